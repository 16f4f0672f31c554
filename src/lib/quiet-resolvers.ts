/** A promise whose rejection is no unhandled error while nothing awaits it. */
export function quietResolvers(): PromiseWithResolvers<void> {
  const resolvers = Promise.withResolvers<void>();
  resolvers.promise.catch(() => undefined);
  return resolvers;
}
