import { CHECK_NAME } from '../../../src/verdict/check-names.ts'
import type { Proposal } from '../../../tools/github/people.ts'
import type { FakeGitHub } from '../../../tools/github/start.ts'
import type { CheckRun, Role } from '../../../tools/github/world.ts'
import type { Stage } from '../story/stage.ts'
import { deploymentFile } from '../story/tenant-changes.ts'

/** Somebody writes a comment, and everything that comes of it happens. */
interface Said {
  readonly repo: string
  readonly issue: number
  readonly as: string
  readonly body: string
}

/** What stands under a comment when all is done: our reactions to it, and our replies on its issue that came with it. */
interface Answered {
  readonly reactions: readonly string[]
  readonly replies: readonly string[]
}

/** Writes a comment and waits. */
export async function command(stage: Stage, wanted: Said): Promise<Answered> {
  const { github } = stage
  const written = github.comment(wanted)
  await stage.settle()
  const mark = `<!-- bailiwick:reply:${written.id} -->`
  const comments = github.commentsOf(wanted.repo, wanted.issue)
  return {
    reactions: comments.find(one => one.id === written.id)?.reactions.map(one => one.content) ?? [],
    replies: comments.filter(one => one.body.startsWith(mark)).map(one => one.body.slice(mark.length).trim()),
  }
}

/** The last run of ours on a commit or branch. */
export function lastRun(
  github: FakeGitHub,
  repo: string,
  ref: string,
  name: string = CHECK_NAME,
): CheckRun | undefined {
  return github.checkRunsOf(repo, ref).findLast(run => run.name === name)
}

/** Waits until the clock shows another second: GitHub's times have no parts of one. */
export async function nextSecond(): Promise<void> {
  const second = Math.floor(Date.now() / 1000)
  while (Math.floor(Date.now() / 1000) === second) await new Promise(resolve => setTimeout(resolve, 20))
}

/** Opens a pull request and waits for its verdict; its number. */
export async function proposed(stage: Stage, proposal: Proposal): Promise<number> {
  const number = stage.github.propose(proposal)
  await stage.settle()
  return number
}

/** A pull request of dev-team in which a Deployment leaves its namespace; its number. */
export const proposeViolation = (stage: Stage, branch: string, as = 'dora'): Promise<number> =>
  proposed(stage, {
    repo: 'acme/dev-team',
    branch,
    files: {
      'staging/report.yaml': deploymentFile(branch, 'kube-system'),
      'staging/kustomization.yaml': overlay(),
    },
    as,
  })

function overlay(): string {
  return `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - ../base
  - report.yaml
patchesStrategicMerge:
  - storefront-values.yaml
`
}

/** A pull request of dev-team that changes nothing of its objects; its number. */
export const proposeNothing = (stage: Stage, branch: string, as = 'dora'): Promise<number> =>
  proposed(stage, { repo: 'acme/dev-team', branch, files: { [`${branch}.md`]: branch }, as })

/** Gives people a role on a repository; who is new gets an account. */
export function giveRoles(github: FakeGitHub, repo: string, roles: Readonly<Record<string, Role>>): void {
  for (const [login, role] of Object.entries(roles)) {
    github.addUser(login)
    github.repositoryNamed(repo).collaborators.set(login, role)
  }
}
