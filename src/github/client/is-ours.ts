import type { AppIdentity } from './octokit.ts'

/** Author and app of something written, as GitHub states them. */
interface Authorship {
  readonly user?: { readonly login: string; readonly type: string } | null
  readonly performed_via_github_app?: { readonly id: number } | null
}

/**
 * Whether our App's bot wrote it. GitHub's word, not the text's: the login of a bot belongs to its app alone (no person's
 * login holds a bracket), and a person who acts through an app is no bot.
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
