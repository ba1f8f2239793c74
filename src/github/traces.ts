import { isGateRuleset } from '../verdict/branch-ruleset.ts'
import { HOLD_LABEL } from '../verdict/decide.ts'
import { unlessMissing } from './client/github-error.ts'
import type { GitHubRepository } from './client/octokit.ts'

/** Something that the App made on GitHub and that outlives its installation. */
export interface Trace {
  readonly what: string
  /** How a person removes it where the App may not. */
  readonly byHand: string
  remove(): Promise<unknown>
}

/**
 * What the App left in a repository, in an order in which it can be removed: rulesets first, so that nothing requires a check that
 * is not published; pull requests before their branches. `slug`: of the App.
 */
export async function listTraces({ octokit, owner, repo }: GitHubRepository, slug: string): Promise<Trace[]> {
  const at = { owner, repo }
  const name = `${owner}/${repo}`
  const { repos, issues, git } = octokit.rest
  const rulesets = await unlessMissing(octokit.paginate(repos.getRepoRulesets, { ...at, includes_parents: false }))
  const creator = `${slug}[bot]`
  const open = await unlessMissing(octokit.paginate(issues.listForRepo, { ...at, creator, state: 'open' }))
  const refs = await unlessMissing(octokit.paginate(git.listMatchingRefs, { ...at, ref: 'heads/bailiwick/' }))
  const label = await unlessMissing(issues.getLabel({ ...at, name: HOLD_LABEL }))
  return [
    ...(rulesets ?? [])
      .filter(({ name: title }) => isGateRuleset(title))
      .map(({ id, name: title }) => ({
        what: `ruleset ${title} of ${name}`,
        byHand: 'delete it at Settings, Rules, Rulesets',
        remove: () => repos.deleteRepoRuleset({ ...at, ruleset_id: id }),
      })),
    ...(open ?? []).map(({ number, pull_request: pull }) => ({
      what: `open ${pull ? 'pull request' : 'issue'} ${name}#${number}`,
      byHand: 'close it',
      remove: () => issues.update({ ...at, issue_number: number, state: 'closed' }),
    })),
    ...(refs ?? []).map(({ ref }) => ({
      what: `branch ${ref.replace('refs/heads/', '')} of ${name}`,
      byHand: 'delete it, and the rule that protects it',
      remove: () => git.deleteRef({ ...at, ref: ref.replace('refs/', '') }),
    })),
    ...(label
      ? [
          {
            what: `label ${HOLD_LABEL} of ${name}`,
            byHand: 'delete it',
            remove: () => issues.deleteLabel({ ...at, name: HOLD_LABEL }),
          },
        ]
      : []),
  ]
}
