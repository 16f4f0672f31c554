import { METRICS_CONTENT_TYPE, type Metrics } from '../lib/metrics.ts';

/** Returns the answer with the metrics of this process. */
export async function answerMetrics(metrics: Metrics): Promise<Response> {
  return new Response(await metrics.render(), {
    headers: { 'content-type': METRICS_CONTENT_TYPE },
  });
}
