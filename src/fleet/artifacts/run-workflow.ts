import { at, itemsOf, type Node, originAt, stringAt } from '../../kube/node.ts'
import { fillIn, holds, type Lookup, unknownNames } from './expression.ts'
import { folderAt, WORKSPACE } from './flux-command.ts'
import { isHarmlessAction, PUSHES, STEERS } from './known-commands.ts'
import { NotUnderstood } from './not-understood.ts'
import { ENVIRONMENT, type JobState, OUTPUT, type Push, runScript, somewhere } from './run-script.ts'
import { isKnown, type Symbolic, unknownText } from './symbolic.ts'
import type { Trigger } from './workflow-events.ts'

/** The repository that a workflow stands in. */
interface WorkflowPlace {
  /** `acme/fleet`. */
  readonly name: string
}

const MAX_STEPS = 2_000
const MAX_COMBINATIONS = 64
const PUSH_ACTION = 'controlplaneio-fluxcd/distribution/actions/push'
const PLAIN_SHELL = /^(?:bash|sh)(?: -[euox]+| pipefail| --noprofile| --norc)*(?: \{0\})?$/
/** Inputs of actions/checkout by which it still brings the commit that the run is about, at the root of the workspace. */
const CHECKOUT = new Set([
  ...[
    'fetch-depth',
    'fetch-tags',
    'token',
    'ssh-key',
    'persist-credentials',
    'clean',
    'show-progress',
    'set-safe-directory',
  ],
  ...['filter', 'repository', 'ref', 'path', 'lfs', 'submodules'],
])

/** The artifacts that a run of a workflow pushes, in order; what cannot be followed is among them, with why. */
export function runWorkflow(workflow: Node, place: WorkflowPlace, trigger: Trigger): Push[] {
  const pushes: Push[] = []
  const counted = { steps: 0 }
  const jobs = at(workflow, ['jobs'])
  for (const [, { value: job }] of jobs?.type === 'map' ? jobs.fields : []) {
    for (const matrix of combinationsOf(job)) runJob({ workflow, job, place, trigger, matrix, pushes, counted })
  }
  return pushes
}

interface Job {
  readonly workflow: Node
  readonly job: Node
  readonly place: WorkflowPlace
  readonly trigger: Trigger
  readonly matrix: ReadonlyMap<string, string> | undefined
  readonly pushes: Push[]
  readonly counted: { steps: number }
}

/** Every combination of a matrix of plain values; one of unknown values for any other matrix. */
function combinationsOf(job: Node): (ReadonlyMap<string, string> | undefined)[] {
  const matrix = at(job, ['strategy', 'matrix'])
  if (matrix === undefined) return [new Map()]
  if (matrix.type !== 'map') return [undefined]
  let all: ReadonlyMap<string, string>[] = [new Map()]
  for (const [name, { value }] of matrix.fields) {
    const isPlain =
      value.type === 'list' && value.items.every(item => item.type === 'scalar' && !String(item.value).includes('${{'))
    if (!isPlain || all.length * value.items.length > MAX_COMBINATIONS) return [undefined]
    all = all.flatMap(one =>
      value.items.map(item => new Map([...one, [name, item.type === 'scalar' ? String(item.value) : '']])),
    )
  }
  return all
}

function runJob(job: Job): void {
  const state: JobState = {
    env: new Map(Object.entries(variablesOf(job))),
    exported: new Map(),
    outputs: new Map(),
    pushes: job.pushes,
    cwd: '',
    changed: 'no earlier step checks out the repository',
    isCheckedOut: false,
    commands: 0,
  }
  const lookup = lookupOf(job, state)
  const is = conditionOf(job.job, lookup)
  if (is === 'no') return
  readEnv(job.workflow, state, lookup)
  readEnv(job.job, state, lookup)
  const steps = at(job.job, ['steps'])
  for (const step of itemsOf(steps)) {
    if (++job.counted.steps > MAX_STEPS) state.changed = `the workflow has more than ${MAX_STEPS} steps`
    runStep(job, step, state, is === 'unknown')
  }
}

/** `unknown`: it depends on more than on what the run did before. */
function conditionOf(node: Node, lookup: Lookup): 'yes' | 'no' | 'unknown' {
  const condition = at(node, ['if'])
  if (condition === undefined || condition.type !== 'scalar') return condition === undefined ? 'yes' : 'unknown'
  const text = String(condition.value)
  const is = holds(text, lookup)
  if (is !== undefined) return is ? 'yes' : 'no'
  // a run that leaves a push out leaves the artifact as it was pushed before, from the same branch
  return unknownNames(text, lookup).every(name => /^(?:needs|steps)\./.test(name)) ? 'yes' : 'unknown'
}

function variablesOf({ place: { name }, trigger }: Job): Record<string, Symbolic> {
  return {
    GITHUB_REPOSITORY: name,
    GITHUB_REPOSITORY_OWNER: name.split('/')[0] ?? '',
    GITHUB_REF: trigger.ref,
    GITHUB_REF_NAME: trigger.refName,
    GITHUB_REF_TYPE: trigger.refType,
    GITHUB_EVENT_NAME: trigger.event,
    GITHUB_OUTPUT: OUTPUT,
    GITHUB_ENV: ENVIRONMENT,
    GITHUB_STEP_SUMMARY: '/github/summary',
    GITHUB_WORKSPACE: WORKSPACE,
    RUNNER_TEMP: '/tmp/runner',
  }
}

function lookupOf({ place, trigger, matrix }: Job, state: JobState): Lookup {
  const [owner = '', repository = ''] = place.name.split('/')
  const github = new Map<string, Symbolic>([
    ['repository', place.name],
    ['repository_owner', owner],
    ['event.repository.name', repository],
    ['event.repository.full_name', place.name],
    ['event.repository.owner.login', owner],
    ['ref', trigger.ref],
    ['ref_name', trigger.refName],
    ['ref_type', trigger.refType],
    ['event_name', trigger.event],
    ['workspace', WORKSPACE],
    ['server_url', 'https://github.com'],
  ])
  return name => {
    const [context = ''] = name.split('.')
    const rest = name.slice(context.length + 1)
    if (context === 'github') return github.get(rest)
    if (context === 'env') return state.env.get(rest)
    if (context === 'matrix') return matrix?.get(rest)
    const output = /^([\w-]+)\.outputs\.([\w-]+)$/.exec(rest)
    return context === 'steps' && output ? state.outputs.get(`${output[1]}.${output[2]}`) : undefined
  }
}

function readEnv(node: Node, { env }: JobState, lookup: Lookup): void {
  const map = at(node, ['env'])
  for (const [name, { value }] of map?.type === 'map' ? map.fields : []) {
    if (/^(?:GITHUB|RUNNER)_/.test(name)) continue
    env.set(name, value.type === 'scalar' ? fillIn(String(value.value ?? ''), lookup) : unknownText(`env ${name}`))
  }
}

function runStep(job: Job, step: Node, state: JobState, isMaybe: boolean): void {
  const lookup = lookupOf(job, state)
  const is = conditionOf(step, lookup)
  if (is === 'no') return
  const [uses, script] = [stringAt(step, ['uses']), stringAt(step, ['run'])]
  const before = new Map(state.env)
  readEnv(step, state, lookup)
  if (uses !== undefined) runAction(uses, step, state, lookup, isMaybe || is === 'unknown')
  else if (script !== undefined) runCommands(job, script, step, state, isMaybe || is === 'unknown')
  // what a step sets for itself ends with it
  state.env.clear()
  for (const [name, value] of [...before, ...state.exported]) state.env.set(name, value)
  state.exported.clear()
}

function runCommands(job: Job, script: string, step: Node, state: JobState, isMaybe: boolean): void {
  const node = at(step, ['run'])
  const first = originAt(step, ['run']).line
  const isBlock = node?.type === 'scalar' && node.style !== undefined
  const lineOf = (line: number) => (isBlock ? first + line : first)
  const lookup = lookupOf(job, state)
  const known = state.pushes.length
  try {
    if ([...state.env.keys()].some(name => STEERS.test(name)))
      throw new NotUnderstood('sets the search path for programs')
    const shell = [step, job.job, job.workflow].map((one, index) =>
      stringAt(one, index === 0 ? ['shell'] : ['defaults', 'run', 'shell']),
    )
    const named = shell.find(one => one !== undefined)
    if (named !== undefined && !PLAIN_SHELL.test(named)) throw new NotUnderstood(`runs in ${named}`)
    const folder = [step, job.job, job.workflow].map((one, index) =>
      stringAt(one, index === 0 ? ['working-directory'] : ['defaults', 'run', 'working-directory']),
    )
    state.cwd = folderAt('', fillIn(folder.find(one => one !== undefined) ?? '.', lookup))
    const filled = fillIn(script, lookup, true)
    runScript(filled, { state, step: stringAt(step, ['id']) ?? '', lineOf, isMaybe, depth: 0 })
  } catch (error) {
    if (!(error instanceof NotUnderstood)) throw error
    const why = `its script ${error.message}`
    // what was found before is part of a script that does more
    const found = state.pushes.splice(known)
    for (const one of found) state.pushes.push({ repository: one.repository, tag: one.tag, line: one.line, why })
    const targets = PUSHES.test(named(script, state)) ? somewhere(named(script, state)) : []
    for (const target of targets) state.pushes.push({ ...target, line: first, why })
    state.changed ??= `the step at line ${first} is not supported: ${why}`
  }
}

/** A script with the values of its variables, to look for addresses in it. */
const named = (script: string, { env }: JobState) =>
  script.replaceAll(/\$(?:\{(\w+)\}|(\w+))/g, (written, one, other) => env.get(one ?? other) ?? written)

function runAction(uses: string, step: Node, state: JobState, lookup: Lookup, isMaybe: boolean): void {
  const action = uses.replace(/@[^@]*$/, '')
  const line = originAt(step, ['uses']).line
  const input = (name: string) => {
    const node = at(step, ['with', name])
    return node?.type === 'scalar' ? fillIn(String(node.value ?? ''), lookup) : undefined
  }
  if (action === 'actions/checkout') checkOut(step, state, input, line, isMaybe)
  else if (action === PUSH_ACTION) pushByAction(step, state, input, line, isMaybe)
  else if (!isHarmlessAction(action)) {
    state.changed ??= `line ${line} uses ${action} earlier, which can change files`
  }
}

type Input = (name: string) => Symbolic | undefined

function checkOut(step: Node, state: JobState, input: Input, line: number, isMaybe: boolean): void {
  const inputs = at(step, ['with'])
  const names = inputs?.type === 'map' ? [...inputs.fields.keys()] : []
  const is = (name: string, ...values: readonly (string | undefined)[]) => values.includes(input(name))
  const own = [undefined, '', state.env.get('GITHUB_REPOSITORY')]
  const ref = [undefined, '', state.env.get('GITHUB_REF'), state.env.get('GITHUB_REF_NAME'), unknownText('github.sha')]
  const isPlain =
    names.every(name => CHECKOUT.has(name)) &&
    is('repository', ...own) &&
    is('ref', ...ref) &&
    is('path', undefined, '', '.', './') &&
    is('lfs', undefined, 'false') &&
    is('submodules', undefined, 'false')
  if (!isPlain) state.changed = `the checkout at line ${line} is not only the commit itself`
  else if (isMaybe) state.changed ??= `it is unknown whether line ${line} checks out the repository`
  // a later one need not put back what steps changed
  else if (!state.isCheckedOut) state.changed = undefined
  state.isCheckedOut = true
}

/** Its inputs are those of the command (actions/push of controlplaneio-fluxcd/distribution). */
function pushByAction(step: Node, state: JobState, input: Input, line: number, isMaybe: boolean): void {
  const repository = input('repository') ?? unknownText('repository')
  const tags = [input('diff-tag'), ...(input('tags') ?? '').split('\n')].flatMap(tag =>
    tag?.trim() ? [tag.trim()] : [],
  )
  const inputs = at(step, ['with'])
  const known = ['repository', 'path', 'diff-tag', 'tags', 'ignore-paths', 'annotations']
  const odd = inputs?.type === 'map' ? [...inputs.fields.keys()].find(name => !known.includes(name)) : undefined
  for (const tag of tags.length > 0 ? tags : ['latest']) {
    state.pushes.push({ repository, tag, line, ...contentOf() })
  }

  function contentOf(): Pick<Push, 'content' | 'why'> {
    const why = isMaybe ? 'the condition of the push is unknown' : state.changed
    if (why !== undefined) return { why }
    if (odd !== undefined) return { why: `the action has the unsupported input ${odd}` }
    try {
      const ignore = input('ignore-paths')
      if (ignore !== undefined && !isKnown(ignore)) throw new NotUnderstood('has ignore-paths with an unknown value')
      const patterns = ignore?.split('\n').flatMap(one => (one.trim() ? [one.trim()] : []))
      return {
        content: { folder: folderAt('', input('path') ?? '.'), ...(patterns?.length ? { ignore: patterns } : {}) },
      }
    } catch (error) {
      if (error instanceof NotUnderstood) return { why: `the action ${error.message}` }
      throw error
    }
  }
}
