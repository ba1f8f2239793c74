import { htmlOf, htmlText } from '../../base/markup.ts'
import { type Message, untyped } from '../../base/message.ts'
import type { SourceLine } from '../../base/origin.ts'
import { fileAddress, isAddress, placeOf, shortUrl } from '../text/place.ts'

/** Markup that may stand in a page as it is. Only `html` makes it of values, so nothing unescaped gets in. */
export class Html {
  readonly #markup: string

  /** For texts of this folder only. */
  constructor(parts: readonly string[]) {
    this.#markup = parts.join('')
  }

  toString(): string {
    return this.#markup
  }
}

/** What may stand in a page: markup, text (escaped), or a list of both; undefined and false are nothing. */
export type Content = Html | string | number | undefined | false | readonly Content[]

/**
 * Markup with values in it. A value that is not markup itself is shown as text, in element content and between the quotes
 * of an attribute alike: nothing in it ends the place that it stands in, and characters that hide or reorder are written out.
 */
export function html(markup: TemplateStringsArray, ...values: readonly Content[]): Html {
  return new Html(markup.flatMap((part, at) => (at < values.length ? [part, shown(values[at])] : [part])))
}

function shown(value: Content): string {
  if (value === undefined || value === false) return ''
  if (value instanceof Html) return value.toString()
  if (typeof value === 'object') return value.map(shown).join('')
  return htmlText(String(value))
}

/** A message, or a sentence whose values have no types. */
export function prose(text: string | Message): Html {
  return new Html([htmlOf(typeof text === 'string' ? untyped(text) : text)])
}

/** The head of a column of numbers. */
export const num = (title: string): Html => html`<th scope="col" class="num">${title}</th>`

/** A table that scrolls by itself where the page is narrower, and on a telephone shows each row as a list. `label` names it for readers who do not see it; each row is a `tr`. `look`: more classes. */
export function table(
  label: string,
  titles: readonly (string | Html)[],
  rows: readonly Content[],
  caption?: string,
  look = '',
): Html {
  const heads = titles.map(title => (typeof title === 'string' ? html`<th scope="col">${title}</th>` : title))
  const names = heads.map(head => head.toString().replace(/<[^>]*>/g, ''))
  return html`<div class="scroll${look}" role="region" aria-label="${label}" tabindex="0"><table>
${caption !== undefined && html`<caption>${caption}</caption>\n`}<thead><tr>${heads}</tr></thead>
<tbody>
${rows.map(row => html`${titled(row, names)}\n`)}</tbody>
</table></div>`
}

/** A row with the title of its column at each cell. */
function titled(row: Content, titles: readonly string[]): Html {
  let at = 0
  return new Html([shown(row).replace(/<t[dh](?=[ >])/g, cell => `${cell} data-title="${titles[at++] ?? ''}"`)])
}

/** The first `most` of a row's names, and how many more there are. `besides`: how many the list itself lacks. */
export function namesOf(
  names: readonly string[],
  most: number,
  show: (name: string) => Content = name => name,
  besides = 0,
): Content {
  const left = Math.max(0, names.length - most) + besides
  return [
    names.slice(0, most).map((name, at) => [at > 0 && ', ', show(name)]),
    left > 0 && html` <span class="dim small">and ${left} more</span>`,
  ]
}

/** The part of a list that is asked for, with `size` rows, and the links to the others; the last one if there are fewer. */
export function paged<T>(
  rows: readonly T[],
  asked: number,
  size: number,
  addressOf: (part: number) => string,
): { readonly shown: readonly T[]; readonly pager: Content } {
  const last = Math.max(1, Math.ceil(rows.length / size))
  const part = Number.isSafeInteger(asked) ? Math.min(Math.max(asked, 1), last) : 1
  const to = (number: number, text: string) => html`<a href="${addressOf(number)}">${text}</a> `
  return {
    shown: rows.slice((part - 1) * size, part * size),
    pager:
      last > 1 &&
      html`<p class="pager">${part > 1 && [to(1, 'First'), to(part - 1, 'Previous')]}<span>Part ${part} of ${last}</span> ${part < last && [to(part + 1, 'Next'), to(last, 'Last')]}</p>`,
  }
}

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

/** A moment for people and machines; what is not an ISO time is shown as it is. */
export function when(at: string): Html {
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(at)
  if (!match) return html`${at}`
  return html`<time datetime="${at}">${match[1]} ${match[2]} UTC</time>`
}

/** The address of the server that a repository is on; github.com for an address without one. */
export function repositoryHost(url: string): string {
  return /^https:\/\/[\w.-]+(?::\d{1,5})?(?=\/)/.exec(url)?.[0] ?? 'https://github.com'
}

/** Who acts: an account by its namespace and name, anyone else as Kubernetes calls them. */
export function accountText(user: string): Html {
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user)
  return account ? html`account <code>${account[1]}/${account[2]}</code>` : html`<code>${user}</code>`
}
