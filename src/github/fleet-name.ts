import { normaliseUrl } from '../kube/source-address.ts'

/**
 * The name of a fleet in settings: `owner/name` or an address, with `#branch` if clusters follow another branch than
 * the default.
 */
export interface FleetName {
  /** A normalised address, or `owner/name` in lower case on the GitHub of the installation. */
  readonly repository: string
  /** Undefined: the repository's default branch. */
  readonly branch?: string
}

export const FLEET_NAME = 'owner/name or the address of a repository, with #branch for another branch than the default'

const SHORT = /^[A-Za-z\d](?:[A-Za-z\d-]{0,38})\/[\w.-]{1,100}$/
const ADDRESS = /^(?:(?:https?|ssh):\/\/|[\w.-]{1,60}@)[^\s\p{Cc}#]{1,500}$/u
const BRANCH = /^[^\s\p{Cc}~^:?*[\\]{1,250}$/u

/** Parses a fleet name; undefined for any other text. */
export function parseFleetName(text: string): FleetName | undefined {
  const mark = text.indexOf('#')
  const [name, branch] = mark < 0 ? [text, undefined] : [text.slice(0, mark), text.slice(mark + 1)]
  if (branch !== undefined && !BRANCH.test(branch)) return undefined
  const repository = repositoryOf(name)
  return repository === undefined ? undefined : { repository, ...(branch === undefined ? {} : { branch }) }
}

function repositoryOf(name: string): string | undefined {
  if (SHORT.test(name)) return name.toLowerCase().replace(/\.git$/, '')
  if (!ADDRESS.test(name)) return undefined
  const url = normaliseUrl(name)
  return /^https:\/\/[^/]+\/.+/.test(url) ? url : undefined
}

/** Whether the repository belongs to this account, given by its address, such as `https://github.com/acme`. */
export function isOfAccount({ repository }: FleetName, account: string): boolean {
  return addressOf(repository, account).startsWith(`${account.toLowerCase()}/`)
}

/** Whether the name refers to the repository at `url`. */
export function namesRepository({ repository }: FleetName, url: string): boolean {
  return addressOf(repository, url) === url.toLowerCase()
}

function addressOf(repository: string, sibling: string): string {
  if (repository.startsWith('https://')) return repository.toLowerCase()
  return `${new URL(sibling).origin}/${repository}`.toLowerCase()
}
