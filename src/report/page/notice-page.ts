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
    html`<p>The page does not exist, has expired, or belongs to a repository that you cannot read on GitHub. Pages of verdicts expire after seven days.</p>
<p><strong>Re-evaluate</strong> on the check run of a commit creates its page again. A push to the branch of a fleet creates the page of the fleet.</p>
<p><a href="/">Fleets and verdicts that you can read</a></p>`,
    reader,
  )
}

const REFUSALS = {
  400: { title: 'Invalid address', text: 'The address cannot be read. Correct it, or start at the list of pages.' },
  405: { title: 'Method not allowed', text: 'This address answers GET and HEAD only.' },
  500: {
    title: 'Internal error',
    text: 'The page could not be made. The log of the web process has the reason. Try again in a moment.',
  },
} as const

/** The page for a request that is refused, whoever sends it. */
export function refusedPage(status: keyof typeof REFUSALS): string {
  const { title, text } = REFUSALS[status]
  return noticePage(
    title,
    html`<p>${text}</p>
<p><a href="/">Fleets and verdicts that you can read</a></p>`,
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
