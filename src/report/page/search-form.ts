import { type Html, html } from './html.ts'

/** A form that searches a list of this site by words. */
export function searchForm(path: string, search: string, shown: number, all: number, noun: string): Html {
  const found = search === '' ? `${all} ${noun}` : `${shown} of ${all} ${noun} match`
  return html`<form class="ask" method="get" action="${path}" role="search">
<div><label for="q">Words to search for</label><input id="q" name="q" type="search" value="${search}" maxlength="200"></div>
<button type="submit">Search</button>
</form>
<p class="dim">${found}.${search !== '' && html` <a href="${path}">Show all</a>`}</p>`
}

/** Whether a text has every word of a search, in any case and order. */
export function matches(search: string, ...texts: readonly string[]): boolean {
  const text = texts.join(' ').toLowerCase()
  return search
    .toLowerCase()
    .split(/\s+/)
    .every(word => text.includes(word))
}
