import { CHECK_NAME } from '../gate/check-names.ts'
import { andMore } from '../message/and-more.ts'
import { code } from '../message/markdown.ts'
import type { WantedRuleset } from '../protection/wanted-ruleset.ts'
import { shortUrl } from '../report/text/place.ts'

/** The result of setting the ruleset of one repository. */
export interface GateSetting {
  readonly url: string
  readonly branches: readonly string[]
  /** `refused`: GitHub does not let the App; `role`: who asked does not administer it; `unread`: GitHub does not show it. */
  readonly outcome: 'set' | 'real' | 'refused' | 'role' | 'unread'
  /** With `refused`: what is to be set. */
  readonly ruleset?: WantedRuleset
}

const MAX_SHOWN = 20

/** The reply to `/bailiwick gate`; undefined if everything was set and there is nothing to report. */
export function gateAnswer(settings: readonly GateSetting[]): string | undefined {
  const of = (outcome: GateSetting['outcome']) => settings.filter(one => one.outcome === outcome)
  const [refused, role, unread] = [of('refused'), of('role'), of('unread')]
  if (refused.length + role.length + unread.length === 0) {
    return of('set').length > 0 ? undefined : `${code(CHECK_NAME)} is already required from this App everywhere.`
  }
  const parts: string[] = []
  if (of('set').length > 0) parts.push(`Set: ${names(of('set'))}.`)
  if (refused.length > 0) parts.push(...byHand(refused))
  if (role.length > 0)
    parts.push(`Not set, because you do not administer it: ${names(role)}. Ask a repository admin to run this command.`)
  if (unread.length > 0) parts.push(`Not checked, because GitHub does not show it to the App: ${names(unread)}.`)
  return parts.join('\n\n')
}

function names(settings: readonly GateSetting[]): string {
  const shown = settings.slice(0, MAX_SHOWN).map(({ url, branches }) => {
    const listed = branches.slice(0, 5).map(branch => code(branch, 100))
    return `${code(shortUrl(url))} (${listed.join(', ')}${branches.length > 5 ? ', …' : ''})`
  })
  const left = settings.length - shown.length
  return shown.join(', ') + andMore(left)
}

function byHand(refused: readonly GateSetting[]): string[] {
  const [first] = refused
  return [
    `GitHub does not let the App set it in ${names(refused)}. Either grant the App the permission **Administration: write** and ask again, or do it yourself in each of them:`,
    `*Settings → Rules → Rulesets → New ruleset → Import a ruleset* with the file below; or *New branch ruleset* with enforcement *Active*, an empty bypass list, these branches as targets, *Restrict deletions*, *Require a pull request before merging*, *Block force pushes* and *Require status checks to pass* with ${code(CHECK_NAME)}, this App as its source and *Require branches to be up to date*.`,
    ...(first?.ruleset ? [fold(first)] : []),
  ]
}

function fold({ url, ruleset }: GateSetting): string {
  const json = JSON.stringify(ruleset, null, 2)
  const longest = Math.max(2, ...[...json.matchAll(/`+/g)].map(run => run[0].length))
  const fence = '`'.repeat(longest + 1)
  return `<details><summary>The file</summary>\n\nFor ${code(shortUrl(url))}:\n\n${fence}json\n${json}\n${fence}\n\n</details>`
}
