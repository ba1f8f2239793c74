import { beforeEach } from 'vitest'
import { hasRedis } from '../queue/start-redis.ts'

/** Leaves out the tests of a run on Redis, with the reason, where there is none: they would show nothing new. */
beforeEach(({ skip }) => {
  if (!hasRedis) skip('there is no redis-server on the PATH')
})
