import type { WorkerContext } from '../worker-context.ts'
import type { Said } from './judge-pull-request.ts'

/** Keeps what the details page of a commit shows, and says the page's address; undefined where there are no pages. */
export async function keepPage(
  _context: WorkerContext,
  _place: { readonly owner: string; readonly repo: string },
  _said: Said,
): Promise<string | undefined> {
  return undefined
}
