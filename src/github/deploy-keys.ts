import { BailiwickError } from '../base/errors.ts'
import { statusOf, unlessMissing } from './client/github-error.ts'
import type { GitHubRepository, Octokit } from './client/octokit.ts'

/** A public key that reads a repository. */
export interface DeployKey {
  readonly title: string
  /** `ssh-ed25519 ...`, without a comment. */
  readonly key: string
}

/**
 * Adds a read-only deploy key, unless it exists already. Returns its id; undefined if GitHub refuses it, for example because the
 * organization forbids deploy keys. Throws as every request does.
 */
export async function addDeployKey(repository: GitHubRepository, wanted: DeployKey): Promise<number | undefined> {
  const { octokit, owner, repo } = repository
  const same = await keysLike(repository, wanted.key)
  const present = same.find(one => one.read_only)
  if (present) return present.id
  for (const one of same) await remove(repository, one.id)
  try {
    const { data } = await octokit.rest.repos.createDeployKey({ owner, repo, ...wanted, read_only: true })
    return data.id
  } catch (error) {
    if ((error instanceof BailiwickError && error.code === 'not-permitted') || statusOf(error) === 422) return undefined
    throw error
  }
}

/**
 * Deletes a deploy key. A missing key or repository is not an error. `beforeRemove` is called with the id of each key before its
 * deletion. Throws as every request does.
 */
export async function removeDeployKey(
  repository: GitHubRepository,
  key: string,
  beforeRemove: (id: number) => Promise<void>,
): Promise<void> {
  for (const { id } of await keysLike(repository, key)) {
    await beforeRemove(id)
    await remove(repository, id)
  }
}

/** All deploy keys of a repository. Throws as every request does. */
export async function listDeployKeys(
  repository: GitHubRepository,
): Promise<(DeployKey & { readonly readOnly: boolean })[]> {
  const all = await allKeys(repository)
  return all.map(({ title, key, read_only: readOnly }) => ({ title, key: withoutComment(key), readOnly }))
}

async function keysLike(repository: GitHubRepository, key: string) {
  return (await allKeys(repository)).filter(one => withoutComment(one.key) === key)
}

async function allKeys({ octokit, owner, repo }: GitHubRepository) {
  return octokit.paginate(octokit.rest.repos.listDeployKeys, { owner, repo, per_page: 100 })
}

const withoutComment = (key: string) => key.split(' ').slice(0, 2).join(' ')

async function remove({ octokit, owner, repo }: GitHubRepository, id: number): Promise<void> {
  await unlessMissing(octokit.rest.repos.deleteDeployKey({ owner, repo, key_id: id }))
}

const KEY = /^(?:ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521)) [A-Za-z0-9+/]{40,2000}={0,2}$/

/** The keys by which GitHub's own SSH server is known, as its API publishes them; empty where a server publishes none. */
export async function readHostKeys(octokit: Octokit): Promise<string[]> {
  const { data } = await octokit.rest.meta.get()
  return (data.ssh_keys ?? []).filter(key => KEY.test(key))
}

/** A tenant of a fleet, as the title of its deploy key names both. */
interface KeyOwner {
  readonly tenant: string
  /** `<owner>/<name>`. */
  readonly fleet: string
}

/** What GitHub shows beside a deploy key of a tenant. `how`: who asked for it, in a few words. */
export function deployKeyTitle(owner: KeyOwner, how: string): string {
  return `${prefixOf(owner)}${how}`
}

/** Whether a deploy key is one of this tenant. Only admins of its repository can give it a title, and our App. */
export const isTitleOf = (title: string, owner: KeyOwner): boolean => title.startsWith(prefixOf(owner))

const prefixOf = ({ tenant, fleet }: KeyOwner) => `Flux: tenant ${tenant} of ${fleet}, `
