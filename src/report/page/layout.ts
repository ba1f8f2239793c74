import { type Content, Html, html } from './html.ts'
import { icon } from './icon.ts'
import { STYLE } from './style.ts'

/** What every page has around its own content. */
export interface Frame {
  readonly title: string
  /** Where the reader is; the last one is here. */
  readonly crumbs: readonly { readonly text: string; readonly href?: string }[]
  /** Who is signed in; absent where nobody has to. */
  readonly reader?: { readonly login: string } | undefined
}

/** A shield with a boundary, as data: the pages load nothing. */
const FAVICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Cpath fill='%230b57a4' d='M12 1 3 4.5V12c0 5 3.6 9.3 9 11 5.4-1.7 9-6 9-11V4.5z'/%3E%3C/svg%3E"

/** The page's own style sheet, between its tags; the policy of the site names it by its hash. */
const STYLE_SHEET = new Html(['<style>', STYLE, '</style>'])

/** A whole page. It holds no script, and everything that is not ours in it is escaped. */
export function layout(frame: Frame, content: Content): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${frame.title} · Bailiwick</title>
<link rel="icon" href="${FAVICON}">
${STYLE_SHEET}
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<div class="top"><header class="wrap">
<a class="brand" href="/">${icon('shield')}Bailiwick</a>
${crumbs(frame)}
${signOut(frame)}
</header></div>
<main class="wrap" id="main" tabindex="-1">
${content}
</main>
<footer><div class="wrap">Bailiwick keeps every tenant of a fleet inside their own namespaces. This page loads no files from other servers.</div></footer>
</body>
</html>
`
  return page.toString()
}

function crumbs({ crumbs }: Frame): Content {
  if (crumbs.length === 0) return undefined
  const items = crumbs.map(({ text, href }, at) => {
    const here = at === crumbs.length - 1 && html` aria-current="page"`
    return html`<li>${href === undefined ? html`<span${here}>${text}</span>` : html`<a href="${href}"${here}>${text}</a>`}</li>`
  })
  return html`<nav aria-label="Breadcrumb"><ol class="crumbs">${items}</ol></nav>`
}

function signOut({ reader }: Frame): Content {
  if (!reader) return undefined
  return html`<form class="out" method="post" action="/logout"><span>Signed in as ${reader.login}</span><button type="submit">Sign out</button></form>`
}
