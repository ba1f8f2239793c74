import { resolve } from 'node:path'
import { BailiwickError } from '../../base/errors.ts'
import { andMore, closest, probably } from '../../base/name-list.ts'
import { visible } from '../../base/visible.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import { FLEET_FILE } from '../../fleet/model/fleet-config.ts'
import { openCommit } from '../../git/commits.ts'
import type { Tree } from '../../git/tree.ts'
import { openWorkingCopy } from '../../git/working-copy.ts'
import { massDeletion } from '../../rules/ownership/deletions.ts'
import { type OffboardPlan, planOffboarding } from '../../tenants/offboard/plan.ts'
import {
  type OffboardRequest,
  type OffboardStage,
  offboardInput,
  parseOffboard,
} from '../../tenants/offboard/request.ts'
import { fleetAt } from '../../tenants/onboard/tenant-layout.ts'
import { fleetFileWaivers, withoutWaivers, withWaivers } from '../command/fleet-file.ts'
import { checkedDay, subjectKey, waiverEntries } from '../command/waiver.ts'
import { copyOptions } from './check-options.ts'
import { type Command, type Io, today } from './command.ts'
import { evaluateCopy } from './evaluate-copy.ts'
import { notFollowed } from './followed-sources.ts'
import type { Given } from './given.ts'
import { printLines } from './terminal.ts'
import { usageLine } from './usage.ts'
import { fleetFileText, requesterOf } from './waive.ts'
import { repositoryAddress, rootFolder } from './working-copy.ts'
import { writeAllInside, writeInside } from './write-inside.ts'

/** `bailiwick offboard`: writes the next of the two changes of an offboarding to the working copy. */
export const offboard: Command = {
  name: 'offboard',
  usage: [
    ['TENANT', 'name of the tenant'],
    ['[DIR]', 'working copy of the fleet (default: .)'],
    ['[--cluster C]...', 'only this cluster (repeatable; default: every cluster of the tenant)'],
    ['[--approver LOGIN]', 'the fleet admin who agrees: check accepts what the change removes, by waivers for 30 days'],
    ['[--requester LOGIN]', 'who asks for it (default: user.name of git)'],
  ],
  notes: `Run it, merge the change, and wait until the Kustomizations of the tenant are gone on every cluster. Then run it again: the
second change removes sources, accounts, roles, namespaces and credentials.`,
  async run(given, io) {
    const words = [...given.positionals, ...given.all('cluster').map(name => `--cluster=${name}`)]
    return writeChange(parseOffboard(words, `bailiwick ${usageLine(offboard)}`, 'directory'), given, io)
  },
}

/** Writes the next change to the working copy and prints the next steps. */
async function writeChange(
  { directory, ...request }: OffboardRequest & { readonly directory: string | undefined },
  given: Given,
  io: Io,
): Promise<number> {
  const dir = await rootFolder(resolve(io.cwd, directory ?? '.'))
  const tree = await openWorkingCopy(dir)
  const here = await repositoryAddress(dir, {})
  const { url, usual = here.branch } = here
  const fleet = fleetAt(tree, url, here.branch)
  const branch = notFollowed([fleet], here) ? usual : here.branch
  const plan = planOffboarding(request, tree, url, branch)
  if (plan.stage === 'done') assertTenant(fleet, request)
  if (plan.stage !== 'done') {
    const merged = (ref: string) => mergedStage(dir, ref, commit => planOffboarding(request, commit, url, branch).stage)
    const stages = [await merged(`refs/heads/${usual}`), await merged(`refs/remotes/origin/${usual}`)].flat()
    if (stages.length > 0 && !stages.includes(plan.stage)) throw notMerged(stages[0]!, usual, request)
  }
  await writeAllInside(dir, plan.files)
  const isAgreed = plan.stage !== 'done' && (await waiveRemovals(dir, branch, request, given, io))
  printLines(io, linesOf(plan, request, isAgreed))
  return 0
}

/** Replaces the waivers of the change before by those for what this one removes. False without an approver. */
async function waiveRemovals(
  dir: string,
  branch: string,
  { tenant }: OffboardRequest,
  given: Given,
  io: Io,
): Promise<boolean> {
  const approver = given.one('approver')
  if (approver === undefined) return false
  const requester = await requesterOf(given, io)
  const options = { ...copyOptions(given, io.cwd), dir, base: 'HEAD', branch, clusters: [] }
  const { verdict } = await evaluateCopy(options, [], io.env ?? process.env)
  const removed = verdict.violations.filter(({ rule, state }) => rule === massDeletion.id && state === 'new')
  const reason = `Offboarding of tenant ${tenant}`
  const entries = waiverEntries(removed, { reason, requester, approver, expires: checkedDay(undefined, today()) })
  const present = new Set(entries.map(subjectKey))
  const text = fleetFileText(await openWorkingCopy(dir))
  const earlier = fleetFileWaivers(text).filter(one => one.rule === massDeletion.id && one.reason === reason)
  const gone = earlier.filter(one => !present.has(subjectKey(one)))
  await writeInside(dir, FLEET_FILE, withoutWaivers(withWaivers(text, entries), gone))
  return true
}

/** The next change for the state at a ref; empty if the repository has no such ref. */
async function mergedStage(
  dir: string,
  ref: string,
  stageOf: (tree: Tree) => OffboardStage,
): Promise<readonly OffboardStage[]> {
  try {
    return [stageOf(await openCommit(dir, ref))]
  } catch (error) {
    if (error instanceof BailiwickError && error.code === 'git-missing') return []
    throw error
  }
}

/** Flux must finish one change before the next one is merged. */
function notMerged(stage: OffboardStage, branch: string, request: OffboardRequest): BailiwickError {
  const next = NEXT[stage](request).replace('next: merge this', 'Merge it')
  const message = `the change before this one is not on branch ${visible(branch, 100)}, so nothing was written`
  return offboardInput(message, `${next}.`)
}

/** Throws if the fleet has no such tenant, naming the one that was probably meant. */
function assertTenant({ tenants }: Fleet, { tenant: name }: OffboardRequest): void {
  if (tenants.some(tenant => tenant.name === name)) return
  const names = tenants.map(tenant => tenant.name)
  const meant = probably(name, names)
  const known =
    names.length === 0
      ? 'The fleet has no tenant'
      : `Tenants: ${closest(name, names, MAX_TENANTS).join(', ')}${andMore(names.length - MAX_TENANTS)}`
  const gone =
    names.length === 0
      ? 'Run the command in a working copy of the fleet.'
      : 'If it was offboarded, nothing is left to do.'
  const fix = meant === undefined ? gone : `Did you mean ${meant}?`
  throw offboardInput(`tenant ${JSON.stringify(visible(name, 100))} is not in the fleet. ${visible(known, 500)}`, fix)
}

/** How many tenants a message names. */
const MAX_TENANTS = 20

function linesOf(
  { stage, files, objects, nodes, notes }: OffboardPlan,
  request: OffboardRequest,
  isAgreed: boolean,
): string[] {
  return [
    ...files.map(({ path, content }) => `${content === null ? 'deleted' : 'edited'} ${visible(path)}`),
    ...objects.flatMap(({ cluster, names }) => names.map(name => `removes on ${cluster}: ${visible(name)}`)),
    ...nodes.map(({ key, prunes }) =>
      visible(
        prunes ? `${key} deletes what it applied` : `${key} leaves what it applied: it does not prune, or is suspended`,
      ),
    ),
    ...notes.map(note => visible(note)),
    ...(stage === 'done' ? [] : [isAgreed ? AGREED : AGREE]),
    NEXT[stage](request),
  ]
}

const AGREE =
  'check blocks this change (mass-deletion). Name the fleet admin who agrees with --approver LOGIN, or have another fleet admin comment `/bailiwick override REASON` on the pull request.'
const AGREED = `waived mass-deletion in ${FLEET_FILE}: the approver approves that file in a review of the pull request`

const NEXT: Readonly<Record<OffboardStage, (request: OffboardRequest) => string>> = {
  workloads: ({ tenant }) =>
    `next: merge this, wait until the Kustomizations of ${tenant} are gone on every cluster, then run the command again`,
  rest: ({ tenant }) => `next: merge this; the fleet then has nothing of ${tenant} there`,
  done: ({ tenant }) => `nothing to do: the fleet has nothing of tenant ${tenant} there`,
}
