/** The page that explains every rule. */
export const RULES_PATH = '/rules'

/** Address of the page of all rules beside the page of a commit. */
export function rulesAddress(checkAddress: string): string {
  return `${checkAddress.slice(0, checkAddress.lastIndexOf('/checks/'))}${RULES_PATH}`
}

/** The path of the page of a commit. */
export function checkPath({
  owner,
  repo,
  sha,
}: {
  readonly owner: string
  readonly repo: string
  readonly sha: string
}) {
  return `/checks/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}/${encodeURIComponent(sha)}`
}

/** What a path asks for; undefined: nothing that there is. Names are those that GitHub allows. */
export function readPagePath(path: string): PageAddress | undefined {
  const [, kind, owner = '', repo = '', sha, more] = path.split('/')
  if (!/^[A-Za-z\d][\w-]{0,99}$/.test(owner) || !/^(?!\.{1,2}$)[\w.-]{1,100}$/.test(repo) || more !== undefined)
    return undefined
  if (kind === 'fleets' && sha === undefined) return { kind: 'fleet', owner, repo }
  const isSha = sha !== undefined && /^[\da-f]{40}(?:[\da-f]{24})?$/.test(sha)
  return kind === 'checks' && isSha ? { kind: 'check', owner, repo, sha } : undefined
}

/** Which page is wanted. */
export type PageAddress =
  | { readonly kind: 'check'; readonly owner: string; readonly repo: string; readonly sha: string }
  | { readonly kind: 'fleet'; readonly owner: string; readonly repo: string }
