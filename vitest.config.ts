import { defineConfig } from 'vitest/config'

/** Flows of the App that run a second time on Redis with several sets of workers: what two of them could do at once. */
const ON_REDIS = ['comment', 'fixes', 'fleet-effects', 'merge-queue', 'moving-heads', 'override', 'same-head']

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    passWithNoTests: false,
    // Node strips the types itself, as it does in production, and a worker imports each module once for all of its files:
    // a file leaves nothing behind (variables, clocks and servers are put back when its tests end).
    isolate: false,
    experimental: { viteModuleRunner: false, nodeLoader: false },
    projects: [
      { extends: true, test: { name: 'all', include: ['test/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'on redis',
          include: ON_REDIS.map(name => `test/app-flows/${name}.test.ts`),
          setupFiles: ['test/story/needs-redis.ts'],
          env: { BAILIWICK_STAGE: 'redis' },
        },
      },
    ],
  },
})
