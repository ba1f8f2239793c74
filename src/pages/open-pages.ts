import type { Log } from '../process/log.ts'
import { openShelf } from './open-shelf.ts'
import { PAGE_LIMITS, PageStore } from './page-store.ts'

/** Opens the store of pages where jobs are kept: on Redis, shared by all processes, or in this process. */
export function openPages(
  { redisUrl, redisPrefix }: { readonly redisUrl: string | undefined; readonly redisPrefix: string },
  log: Log,
): PageStore {
  return new PageStore(openShelf({ ...PAGE_LIMITS, redisUrl, prefix: redisPrefix, name: 'pages', log }))
}
