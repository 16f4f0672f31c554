/** A promise whose rejection is no unhandled error while nothing awaits it. */
export function quietResolvers<T = void>(): PromiseWithResolvers<T> {
  const resolvers = Promise.withResolvers<T>();
  resolvers.promise.catch(() => undefined);
  return resolvers;
}
