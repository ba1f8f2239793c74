import { hash } from 'node:crypto'
import { CHECK_NAME } from '../../verdict/check-names.ts'

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
  /** Name of the check. */
  readonly check: string
}) {
  const place = `/checks/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}/${encodeURIComponent(sha)}`
  const id = checkIdOf(check)
  return id === '' ? place : `${place}/${id}`
}

/**
 * The part of an address that identifies a check: empty for the plain name, else a digest, because branch names can
 * contain characters that proxies reject.
 */
export function checkIdOf(name: string): string {
  return name === CHECK_NAME ? '' : hash('sha256', name).slice(0, 16)
}

/** The path of the page of a cluster, as the readers of a repository see it. */
export function clusterPath(owner: string, repo: string, cluster: string): string {
  return `/clusters/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}/${encodeURIComponent(cluster)}`
}

/** Parses the path of a page; undefined if it is not one. Owner and repository must be valid GitHub names. */
export function readPagePath(path: string): PageAddress | undefined {
  const [, kind, owner = '', repo = '', sha, check, more] = path.split('/')
  if (!/^[A-Za-z\d][\w-]{0,99}$/.test(owner) || !/^(?!\.{1,2}$)[\w.-]{1,100}$/.test(repo) || more !== undefined)
    return undefined
  if (kind === 'fleets' && sha === undefined) return { kind: 'fleet', owner, repo }
  if (kind === 'fleets' && sha === 'graph' && check === undefined) return { kind: 'graph', owner, repo }
  if (kind === 'clusters' && sha !== undefined && check === undefined)
    return /^[a-z\d](?:[-a-z\d]{0,61}[a-z\d])?$/.test(sha) ? { kind: 'cluster', owner, repo, cluster: sha } : undefined
  const isSha = sha !== undefined && /^[\da-f]{40}(?:[\da-f]{24})?$/.test(sha)
  const isCheck = check === undefined || /^[\da-f]{16}$/.test(check)
  return kind === 'checks' && isSha && isCheck ? { kind: 'check', owner, repo, sha, check: check ?? '' } : undefined
}

/** The page that a path refers to. */
export type PageAddress =
  | {
      readonly kind: 'check'
      readonly owner: string
      readonly repo: string
      readonly sha: string
      /** As checkIdOf gives it. */
      readonly check: string
    }
  | { readonly kind: 'fleet' | 'graph'; readonly owner: string; readonly repo: string }
  | { readonly kind: 'cluster'; readonly owner: string; readonly repo: string; readonly cluster: string }
