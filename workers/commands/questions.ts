import { BailiwickError } from '../../src/base/errors.ts'
import { listOurCheckRuns, type OurCheckRun } from '../../src/github/checks.ts'
import { type ListedDeployKey, listDeployKeys } from '../../src/github/deploy-keys.ts'
import { listOpenPullRequests } from '../../src/github/pull-request.ts'
import { checkRunOf } from '../../src/report/check-run.ts'
import { type CredentialGroup, credentialsPageOf } from '../../src/report/page/credentials-page.ts'
import { rules } from '../../src/rules/registry.ts'
import { DIFF_USAGE, diffText, EXPLAIN_USAGE, explainText, statusText } from '../../src/surface/command/answer-text.ts'
import { commandError, helpText, quoted } from '../../src/surface/command/command-line.ts'
import { credentialsPath } from '../../src/surface/pages/page-address.ts'
import {
  type CredentialEntry,
  credentialEntries,
  credentialsText,
  ENTRY_TITLES,
  type KnownKeys,
} from '../../src/tenants/credential-entries.ts'
import type { CredentialReport } from '../../src/tenants/credential-report.ts'
import { CHECK_NAME, checkNameOf } from '../../src/verdict/check-names.ts'
import { askThread } from '../fleets/evaluate-revision-set.ts'
import { readDecisions } from '../gate/human-decisions.ts'
import {
  type BailiwickCommand,
  type CommandContext,
  decidesHere,
  evaluateAgain,
  isAtLeast,
  mayAsk,
  mayWrite,
  shownVerdict,
} from './command-context.ts'

/** Lists the commands that the person may run here; `all`: every command. */
export async function helpFor(
  command: CommandContext,
  all: readonly BailiwickCommand[],
  about?: string,
): Promise<string> {
  const here = all.filter(({ where }) => where === 'anywhere' || command.comment.issue.pullRequest)
  const allowed = await Promise.all(here.map(one => one.may(command)))
  const offered = here.filter((_, index) => allowed[index] === true)
  return helpText(command.comment.author.login, offered, about)
}

/** The command that lists the others. */
export function helpVerb(others: () => readonly BailiwickCommand[]): BailiwickCommand {
  return {
    name: 'help',
    decision: 'none',
    usage: 'help',
    summary: 'the commands that you can run here',
    where: 'anywhere',
    slow: false,
    may: mayAsk,
    run: async command => ({ reaction: '+1', reply: await helpFor(command, others()) }),
  }
}

/** Our run of the check of a base: under its own name if the repository has several. */
function checkOf(runs: readonly OurCheckRun[], base: string): OurCheckRun | undefined {
  return [checkNameOf(base), CHECK_NAME].flatMap(name => runs.find(run => run.name === name) ?? [])[0]
}

/** Shows the status of a pull request. */
export const status: BailiwickCommand = {
  name: 'status',
  decision: 'none',
  usage: 'status',
  summary: 'status: verdict, clusters, findings, and what is waived, held or overridden',
  where: 'pull-request',
  slow: true,
  may: mayAsk,
  run: async command => {
    const { pull, evaluated, verdict } = await shownVerdict(command)
    const runs = await listOurCheckRuns(command, pull.head.sha)
    const run = checkOf(runs, pull.base.ref)
    const decisions = await readDecisions(command, pull, evaluated, runs)
    const { title } = checkRunOf(evaluated.outcome, { ...evaluated.context, decisions })
    const reply = statusText({
      ...{ head: pull.head.sha, base: pull.base.ref, title, decisions: decisions },
      ...(run ? { run } : {}),
      ...(verdict ? { verdict } : {}),
    })
    return { reaction: '+1', reply }
  },
}

/** Explains a rule and lists its findings on this pull request. */
export const explain: BailiwickCommand = {
  name: 'explain',
  decision: 'none',
  usage: EXPLAIN_USAGE,
  summary: 'what a rule requires, why, and its findings on this pull request',
  where: 'anywhere',
  slow: true,
  may: mayAsk,
  run: async command => {
    const { line, comment, repository } = command
    const shown = comment.issue.pullRequest ? await shownVerdict(command) : undefined
    return { reaction: '+1', reply: explainText(line.words[0], rules, repository.url, shown?.verdict) }
  },
}

/** Shows rendered changes of this pull request. */
export const diff: BailiwickCommand = {
  name: 'diff',
  decision: 'none',
  usage: DIFF_USAGE,
  summary: 'rendered changes of this pull request',
  where: 'pull-request',
  slow: true,
  may: mayAsk,
  run: async command => {
    const { evaluated, verdict } = await shownVerdict(command)
    const clusters = (verdict?.clusters ?? []).map(({ name }) => name)
    const { changes, page } = evaluated.context
    return { reaction: '+1', reply: diffText(command.line.words, changes, clusters, page) }
  },
}

const USAGE = 'check [--all]'

/** Evaluates again now, for example after an outage of GitHub, a source or the App. */
export const check: BailiwickCommand = {
  name: 'check',
  decision: 'none',
  usage: USAGE,
  summary: 'evaluate this pull request again now; `--all`: every open one of this repository (needs the role maintain)',
  where: 'anywhere',
  slow: false,
  may: mayWrite,
  run: async command => {
    const { line, comment, role } = command
    const [option, more] = line.words
    if (more !== undefined || (option !== undefined && option !== '--all')) {
      throw commandError(`unknown argument ${quoted(line.rest)}`, `Write \`/bailiwick ${USAGE}\``)
    }
    if (option === undefined) {
      if (!comment.issue.pullRequest) {
        throw commandError('this is not a pull request', 'Comment on a pull request, or write `/bailiwick check --all`')
      }
      await evaluateAgain(command)
      return { reaction: '+1' }
    }
    if (!isAtLeast(role, 'maintain')) {
      throw commandError('--all requires the role maintain in this repository', 'Write `/bailiwick check`')
    }
    for (const { number } of await listOpenPullRequests(command)) await evaluateAgain(command, number)
    return { reaction: '+1' }
  },
}

/** Repositories whose keys are listed: those that tenants read first. */
const MAX_REPOSITORIES = 200

/** Lists the credentials of the tenants: those in git, and the deploy keys that GitHub shows. */
export const credentials: BailiwickCommand = {
  name: 'credentials',
  decision: 'none',
  usage: 'credentials',
  summary:
    'list deploy keys without a tenant, tenants without a key, their age, and who can open sealed files (fleet admins)',
  where: 'anywhere',
  slow: true,
  may: decidesHere,
  refusal: 'The credentials cannot be listed',
  run: async command => {
    const { report, commit } = await askThread(command, { type: 'credentials' }, 'onboard-layout')
    const entries = credentialEntries(report, await knownKeys(command, report), command.today)
    const address = await keepCredentialsPage(command, commit, entries)
    const page =
      address === undefined
        ? ''
        : `\n\n[All of them, with filters](${address}), for maintainers and admins of this repository.`
    return { reaction: 'rocket', reply: `${credentialsText(entries)}${page}` }
  },
}

async function knownKeys(command: CommandContext, { sources }: CredentialReport): Promise<KnownKeys> {
  const { installation, octokit } = command
  const read = new Set(sources.map(({ url }) => url))
  const all = [...(await installation.repositories())].sort((a, b) => Number(read.has(b.url)) - Number(read.has(a.url)))
  const repositories = new Map<string, readonly ListedDeployKey[]>()
  const notVisible: string[] = []
  for (const { owner, repo, url } of all.slice(0, MAX_REPOSITORIES)) {
    try {
      repositories.set(url, await listDeployKeys({ octokit, owner, repo }))
    } catch (error) {
      if (!(error instanceof BailiwickError) || (error.code !== 'not-permitted' && error.code !== 'git-missing'))
        throw error
      // the name of a repository that no tenant reads is not shown here
      if (!read.has(url)) notVisible.push('deploy keys of a repository that no tenant reads: the App may not list them')
    }
  }
  if (all.length > MAX_REPOSITORIES) {
    notVisible.push(
      `deploy keys of ${all.length - MAX_REPOSITORIES} more repositories: only ${MAX_REPOSITORIES} are listed`,
    )
  }
  return { fleet: `${command.owner}/${command.repo}`, repositories, notVisible: [...new Set(notVisible)] }
}

const TONES: Readonly<Record<CredentialEntry['kind'], CredentialGroup['tone']>> = {
  'in-clear': 'bad',
  'key-of-no-tenant': 'bad',
  'writable-key': 'bad',
  'tenant-without-key': 'bad',
  'several-keys': 'bad',
  'other-recipients': 'bad',
  key: 'good',
  'not-visible': 'note',
}

/** Stores the page of a fleet's credentials and returns its address; undefined if pages are off or it failed. */
async function keepCredentialsPage(
  { context, owner, repo, repository: fleet }: CommandContext,
  commit: string,
  entries: readonly CredentialEntry[],
): Promise<string | undefined> {
  const { store, publicUrl } = context.pages
  if (publicUrl === undefined) return undefined
  const groups = (Object.keys(ENTRY_TITLES) as CredentialEntry['kind'][]).map(kind => ({
    ...{ kind, title: ENTRY_TITLES[kind], tone: TONES[kind] },
    rows: entries.filter(one => one.kind === kind).map(({ kind: _kind, ...row }) => row),
  }))
  const place = { owner, repo, repositoryId: fleet.id, visibility: fleet.visibility, at: new Date().toISOString() }
  const page = credentialsPageOf({ ...place, repository: fleet.url, commit, groups })
  const kept = await store.keep(page).catch(err => {
    context.log.warn({ err }, 'page could not be stored')
    return false
  })
  return kept ? `${publicUrl}${credentialsPath(owner, repo)}` : undefined
}
