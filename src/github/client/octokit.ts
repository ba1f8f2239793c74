import type { ProbotOctokit } from 'probot'
import { type MessagePart, part } from '../../base/message.ts'

/** The part of a GitHub client that this folder uses; the caller decides how it is authenticated. */
export type Octokit = Pick<InstanceType<typeof ProbotOctokit>, 'rest' | 'paginate' | 'request'>

/** A repository as GitHub's paths name it. */
export interface RepositoryName {
  readonly owner: string
  readonly repo: string
}

/** Who we are on GitHub: what we wrote is recognised by it, never by what a text claims. */
export interface AppIdentity {
  readonly id: number
  /** The login of our bot is `<slug>[bot]`. */
  readonly slug: string
}

/** A repository, and the client that asks about it: its token decides what may be read and written. */
export interface GitHubRepository extends RepositoryName {
  readonly octokit: Octokit
}

/** A repository, and the App whose own comments and check runs are recognized there. */
export interface OurRepository extends GitHubRepository {
  readonly app: AppIdentity
}

/** A repository of GitHub in a message, or an issue or pull request of it. */
export function repositoryPart(
  { owner, repo }: { readonly owner: string; readonly repo: string },
  number?: number,
): MessagePart {
  const name = `${owner}/${repo}`
  return part('repository', name, number === undefined ? name : `${name}#${number}`)
}

/** A branch, or a tag, in a message. */
export const branchPart = (branch: string): MessagePart => part('branch', branch, JSON.stringify(branch))

/** Author and app of something written, as GitHub states them. */
interface Authorship {
  readonly user?: { readonly login: string; readonly type: string } | null
  readonly performed_via_github_app?: { readonly id: number } | null
}

/**
 * Whether our App's bot wrote it, by GitHub's record, not by the text: the login of a bot belongs to its app alone (no
 * person's login holds a bracket), and a person who acts through an app is not a bot.
 */
export function isOurs(app: AppIdentity, { user, performed_via_github_app: via }: Authorship): boolean {
  if (user?.type !== 'Bot') return false
  if (via && via.id !== app.id) return false
  return user.login.toLowerCase() === botLogin(app).toLowerCase()
}

/** Login under which our App writes. */
function botLogin(app: AppIdentity): string {
  return `${app.slug}[bot]`
}

/**
 * Cuts `text` so that it has at most `limit` UTF-8 bytes with `note` at its end, never inside a character. A code fence
 * that the cut leaves open is closed, so that the note is read as text. GitHub counts some limits in characters and some in
 * bytes; bytes satisfy both.
 */
export function cutText(text: string, limit: number, note: string): string {
  if (Buffer.byteLength(text) <= limit) return text
  const closing = `\n${'`'.repeat(10)}`
  const room = limit - Buffer.byteLength(note) - Buffer.byteLength(closing)
  const kept = cutBytes(text, Math.max(0, room))
  const fence = openFence(kept)
  return `${kept}${fence ? `\n${fence}` : ''}${note}`
}

/** The longest beginning of `text` with at most `limit` UTF-8 bytes; a surrogate pair stays whole. */
export function cutBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= limit) return text
  let end = limit
  // 10xxxxxx is the inside of a character
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--
  return bytes.subarray(0, end).toString()
}

function openFence(text: string): string | undefined {
  let open: string | undefined
  for (const line of text.split('\n')) {
    const fence = /^ {0,3}(`{3,10}|~{3,10})/.exec(line)?.[1]
    if (!fence) continue
    if (open === undefined) open = fence
    else if (fence[0] === open[0] && fence.length >= open.length) open = undefined
  }
  return open
}

/** Waits for all of them, then throws the first failure: nothing goes on behind the caller's back. */
export async function settleAll<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(promises)
  return results.map(result => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}
