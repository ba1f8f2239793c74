import { hash } from 'node:crypto'
import { CHECK_NAME } from '../gate/check-names.ts'

/** The page that explains every rule. */
export const RULES_PATH = '/rules'

/** Address of the page of all rules beside the page of a commit. */
export function rulesAddress(checkAddress: string): string {
  return `${checkAddress.slice(0, checkAddress.lastIndexOf('/checks/'))}${RULES_PATH}`
}

/** The path of the page of one check of a commit. */
export function checkPath({
  owner,
  repo,
  sha,
  check,
}: {
  readonly owner: string
  readonly repo: string
  readonly sha: string
  /** Its name. */
  readonly check: string
}) {
  const place = `/checks/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}/${encodeURIComponent(sha)}`
  const id = checkIdOf(check)
  return id === '' ? place : `${place}/${id}`
}

/**
 * What stands for the name of a check in an address: nothing for the plain one. A digest, because a name holds the name of
 * a branch, and proxies do not let every character through.
 */
export function checkIdOf(name: string): string {
  return name === CHECK_NAME ? '' : hash('sha256', name).slice(0, 16)
}

/** What a path asks for; undefined: nothing that there is. Names are those that GitHub allows. */
export function readPagePath(path: string): PageAddress | undefined {
  const [, kind, owner = '', repo = '', sha, check, more] = path.split('/')
  if (!/^[A-Za-z\d][\w-]{0,99}$/.test(owner) || !/^(?!\.{1,2}$)[\w.-]{1,100}$/.test(repo) || more !== undefined)
    return undefined
  if (kind === 'fleets' && sha === undefined) return { kind: 'fleet', owner, repo }
  const isSha = sha !== undefined && /^[\da-f]{40}(?:[\da-f]{24})?$/.test(sha)
  const isCheck = check === undefined || /^[\da-f]{16}$/.test(check)
  return kind === 'checks' && isSha && isCheck ? { kind: 'check', owner, repo, sha, check: check ?? '' } : undefined
}

/** Which page is wanted. */
export type PageAddress =
  | {
      readonly kind: 'check'
      readonly owner: string
      readonly repo: string
      readonly sha: string
      /** As checkIdOf gives it. */
      readonly check: string
    }
  | { readonly kind: 'fleet'; readonly owner: string; readonly repo: string }
