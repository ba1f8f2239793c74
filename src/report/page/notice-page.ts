import { type Content, html } from './html.ts'
import { type Frame, layout } from './layout.ts'

/** A page that says why there is nothing else to see. */
export function noticePage(title: string, content: Content, reader?: Frame['reader']): string {
  return layout(
    { title, crumbs: [], reader },
    html`<h1 class="page">${title}</h1>
${content}`,
  )
}

/** The page for a missing, expired or forbidden page; it does not reveal which. */
export function nothingHere(reader?: Frame['reader']): string {
  return noticePage(
    'Page not found',
    html`<p>Either there never was one, or it is not kept any more (verdicts are kept for seven days), or you may not read the repository on GitHub.</p>
<p>Press <strong>Re-evaluate</strong> on the check run of a commit to have its page made again; a fleet’s page is made with each push to its branch.</p>
<p><a href="/">Fleets and verdicts that you may read</a></p>`,
    reader,
  )
}

/** Something failed on the way to GitHub while someone signed in. */
export function signInFailed(why: string): string {
  return noticePage(
    'You are not signed in',
    html`<p>${why}</p>
<p><a href="/login">Sign in with GitHub</a></p>`,
  )
}

/** The session is over. */
export function signedOut(): string {
  return noticePage('You are signed out', html`<p><a href="/login">Sign in again with GitHub</a></p>`)
}
