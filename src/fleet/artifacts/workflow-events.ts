import { at, type Node, stringAt } from '../../kube/node.ts'
import { otherThan, type Symbolic, unknownText } from './symbolic.ts'

/** Why a workflow runs, as far as its scripts can see it. */
export interface Trigger {
  readonly event: string
  readonly ref: Symbolic
  readonly refName: Symbolic
  readonly refType: 'branch' | 'tag'
}

/** What a workflow runs on. */
interface WorkflowEvents {
  /** A push to the branch; absent where none starts it. */
  readonly own?: Trigger
  /** Whatever else does: other branches, tags, pull requests. */
  readonly others: readonly Trigger[]
}

const TAG = unknownText('a git tag')

/** Whoever may write to the repository starts it by hand; that it is on the branch is part of what is assumed. */
const BY_HAND = 'workflow_dispatch'

/** Reads `on` of a workflow, for one branch of its repository. */
export function workflowEvents(workflow: Node, branch: string): WorkflowEvents {
  const on = at(workflow, ['on'])
  const names = eventsOf(on)
  const push = on?.type === 'map' ? at(on, ['push']) : undefined
  const others: Trigger[] = []
  let own: Trigger | undefined
  for (const name of names) {
    if (name === 'push') {
      if (runsOn(push, branch)) own = onBranch('push', branch)
      if (runsOnOthers(push, branch)) others.push(onBranch('push', otherThan(branch)))
      if (runsOnTags(push)) others.push({ event: 'push', ref: `refs/tags/${TAG}`, refName: TAG, refType: 'tag' })
    } else if (name === 'schedule') {
      // it runs on the default branch
      if (branch !== 'main' && branch !== 'master') others.push(onBranch(name, otherThan(branch)))
    } else if (name === 'release') others.push({ event: name, ref: `refs/tags/${TAG}`, refName: TAG, refType: 'tag' })
    else if (name !== BY_HAND) {
      const ref = unknownText(`the ref of ${name}`)
      others.push({ event: name, ref, refName: unknownText(`the name of the ref of ${name}`), refType: 'branch' })
    }
  }
  return { ...(own ? { own } : {}), others }
}

function onBranch(event: string, branch: Symbolic): Trigger {
  return { event, ref: `refs/heads/${branch}`, refName: branch, refType: 'branch' }
}

function eventsOf(on: Node | undefined): string[] {
  if (on?.type === 'map') return [...on.fields.keys()]
  if (on?.type === 'list') return on.items.flatMap(item => (item.type === 'scalar' ? [String(item.value)] : []))
  return on?.type === 'scalar' ? [String(on.value)] : []
}

const patternsAt = (push: Node | undefined, field: string): string[] | undefined => {
  const list = at(push, [field])
  if (list?.type === 'list') return list.items.map(item => (item.type === 'scalar' ? String(item.value) : ''))
  const one = stringAt(push, [field])
  return one === undefined ? undefined : [one]
}

/** Of the patterns the last that fits decides; only plain names and those of one star at the end are told apart. */
function runsOn(push: Node | undefined, branch: string): boolean {
  const [only, ignored] = [patternsAt(push, 'branches'), patternsAt(push, 'branches-ignore')]
  if (ignored?.some(pattern => fits(pattern, branch) !== false)) return false
  if (!only) return ignored !== undefined || !isOnlyTags(push)
  let runs = false
  for (const pattern of only) {
    const isNegative = pattern.startsWith('!')
    const fit = fits(isNegative ? pattern.slice(1) : pattern, branch)
    if (isNegative ? fit !== false : fit === true) runs = !isNegative
  }
  return runs
}

/** Undefined where the pattern is not followed. */
function fits(pattern: string, branch: string): boolean | undefined {
  if (!/[*?+[\]!\\]/.test(pattern)) return pattern === branch
  const start = /^([^*?+[\]!\\]*)(\*\*?)$/.exec(pattern)
  if (!start) return undefined
  return branch.startsWith(start[1]!) && (start[2] === '**' || !branch.slice(start[1]!.length).includes('/'))
}

const isOnlyTags = (push: Node | undefined) =>
  patternsAt(push, 'tags') !== undefined || patternsAt(push, 'tags-ignore') !== undefined

function runsOnOthers(push: Node | undefined, branch: string): boolean {
  const only = patternsAt(push, 'branches')
  if (only) return only.some(pattern => !pattern.startsWith('!') && pattern !== branch)
  return patternsAt(push, 'branches-ignore') !== undefined || !isOnlyTags(push)
}

function runsOnTags(push: Node | undefined): boolean {
  if (isOnlyTags(push)) return true
  return patternsAt(push, 'branches') === undefined && patternsAt(push, 'branches-ignore') === undefined
}
