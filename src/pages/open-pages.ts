import type { Log } from '../process/log.ts'
import { openTtlStore } from './open-shelf.ts'
import { PAGE_LIMITS, PageStore } from './page-store.ts'

/** Opens the page store: on Redis, shared by all processes, or in this process, like the queue. */
export function openPages(
  { redisUrl, redisPrefix }: { readonly redisUrl: string | undefined; readonly redisPrefix: string },
  log: Log,
): PageStore {
  return new PageStore(openTtlStore({ ...PAGE_LIMITS, redisUrl, prefix: redisPrefix, name: 'pages', log }))
}
