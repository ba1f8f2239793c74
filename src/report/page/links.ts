import type { SourceLine } from '../../origin.ts'
import { fileAddress, isAddress } from '../text/file-address.ts'
import { placeOf, shortUrl } from '../text/place.ts'
import { type Html, html } from './html.ts'

/** Turns places into links: where a repository was read, and at which commit. */
export interface Links {
  /** Address of the repository that the page is about. */
  readonly here: string
  /** Commit by address of the repository. */
  readonly commits: Readonly<Record<string, string>>
}

/** A line of a file, as a link to it at the commit that was evaluated, where that is known. */
export function placeLink({ here, commits }: Links, origin: SourceLine): Html {
  const text = placeOf(origin, here)
  if (text === '') return html`<span class="dim">no file</span>`
  const repository = origin.repository === '' ? here : origin.repository
  const commit = Object.hasOwn(commits, repository) ? commits[repository] : undefined
  const address = commit === undefined ? undefined : fileAddress(repository, commit, origin.file, origin.line)
  return address === undefined ? html`<code>${text}</code>` : html`<a class="place" href="${address}">${text}</a>`
}

/** A repository, or a commit of it. */
export function repositoryLink(url: string, commit = ''): Html {
  const name = shortUrl(url).replace(/^github\.com\/(?=[^/]+\/[^/]+$)/, '')
  const text = commit === '' ? name : `${name}@${commit.slice(0, 7)}`
  if (!isAddress(url)) return html`<code>${text}</code>`
  return html`<a class="place" href="${commit === '' ? url : `${url}/commit/${encodeURIComponent(commit)}`}">${text}</a>`
}
