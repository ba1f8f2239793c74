import { defineConfig } from 'vitest/config'

/** Flows of the App that run a second time on Redis with several sets of workers: what two of them could do at once. */
const ON_REDIS = ['comment', 'fixes', 'fleet-effects', 'merge-queue', 'moving-heads', 'override', 'same-head']

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    passWithNoTests: false,
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
