/** Files of `npm run test:slow`: what starts programs of its own for each test, kills them, or lets several race. */
export const SLOW: readonly string[] = [
  'test/adopt/api-server.test.ts',
  'test/app-flows/rotate-key.test.ts',
  'test/app-flows/stop.test.ts',
  'test/app/index.test.ts',
  'test/cli/tutorial.test.ts',
  'test/cluster/crash/fault-matrix.test.ts',
  'test/cluster/crash/interrupted.test.ts',
  'test/cluster/crash/killed-worker.test.ts',
  'test/cluster/faults.test.ts',
  'test/cluster/remote/own-kubeconfigs.test.ts',
  'test/cluster/same-as-flux/histories.test.ts',
  'test/cluster/same-as-flux/same-as-flux.test.ts',
  'test/cluster/status/with-controllers.test.ts',
  'test/docs/tutorial-kind.test.ts',
  'test/fleets/capsule-onboarded.test.ts',
  'test/fleets/reconciled.test.ts',
  'test/kustomize/hostile.test.ts',
  'test/offboard/random-fleets.test.ts',
  'test/oracles/stdin.test.ts',
  'test/package/action.test.ts',
  'test/package/deployed-app.test.ts',
  'test/package/image.test.ts',
  'test/package/loaded.test.ts',
  'test/package/oci-image.test.ts',
  'test/package/pack.test.ts',
  'test/policy/native/api-server.test.ts',
  'test/policy/native/hostile-values.test.ts',
  'test/queue/bullmq-queue.test.ts',
  'test/schema/api-server.test.ts',
  'test/schema/custom/rules-api-server.test.ts',
  'test/story/killed-at-redis.test.ts',
  'test/story/killed.test.ts',
  'test/story/offboard.test.ts',
  'test/story/onboard-access.test.ts',
  'test/story/outages.test.ts',
  'test/story/two-clusters.test.ts',
]

const RACING = ['comment', 'fixes', 'fleet-effects', 'merge-queue', 'moving-heads', 'override', 'same-head']

/** Flows of the App that run a second time on Redis with several sets of workers: what two of them could do at once. */
export const ON_REDIS: readonly string[] = RACING.map(name => `test/app-flows/${name}.test.ts`)
