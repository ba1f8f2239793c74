import { createHash } from 'node:crypto'
import { DEFAULT_SETTINGS } from '../../../src/flux/apply-settings.ts'
import type { EvaluatedNode, Finding, NodeFailure } from '../../../src/rules/model/finding.ts'
import type { Heads } from '../../../src/verdict/approve.ts'

/** What two repositories hold and which engine runs; a small world of our own, written without looking at approval. */
export interface World {
  readonly fleetCommit: number
  readonly fleetContent: number
  readonly teamCommit: number
  readonly teamContent: number
  readonly engine: number
}

export const FLEET = 'https://github.com/acme/fleet'
const TEAM = 'https://github.com/acme/team'
export const CLUSTER = 'staging'
export const BASELINE = ['known']

/** Name, parent, and whose content decides about the node. */
const NODES = [
  { name: 'root', parent: null, of: 'fleet' },
  { name: 'tenants', parent: 'root', of: 'fleet' },
  { name: 'own', parent: 'tenants', of: 'fleet' },
  { name: 'team', parent: 'tenants', of: 'team' },
  { name: 'child', parent: 'team', of: 'team' },
] as const

type NodeName = (typeof NODES)[number]['name']
export const NAMES = NODES.map(node => node.name)

const hash = (text: string) => createHash('sha256').update(text).digest('hex')
const commitId = (repository: string, commit: number) => hash(`${repository} ${commit}`).slice(0, 40)

export const combinationOf = (world: World) => hash(`${world.engine} ${world.fleetCommit} ${world.teamCommit}`)

/** What is the matter with a node: a pure function of what it holds, the fleet's spec of it and the engine. */
function stateOf(world: World, name: NodeName): 'clean' | 'violation' | 'known' | 'error' | 'opaque' | 'nobody' {
  const content = name === 'team' || name === 'child' ? world.teamContent : 0
  const dice = Number.parseInt(hash(`${name} ${world.fleetContent} ${content} ${world.engine}`).slice(0, 4), 16) % 16
  const special: Record<number, ReturnType<typeof stateOf>> = {
    0: 'violation',
    1: 'error',
    2: 'known',
    3: 'opaque',
    4: 'nobody',
  }
  return special[dice] ?? 'clean'
}

/** What may be applied in a world. */
export function mayApply(world: World, name: NodeName): boolean {
  const state = stateOf(world, name)
  if (state !== 'clean' && state !== 'known') return false
  const { parent } = NODES.find(node => node.name === name)!
  return parent === null || mayApply(world, parent)
}

export const keyOf = (name: string) => `${CLUSTER}/flux-system/${name}`

export function objectsOf(world: World, name: NodeName): string[] {
  const content = name === 'team' || name === 'child' ? world.teamContent : 0
  return [`{"name":"${name}","fleet":${world.fleetContent},"content":${content},"engine":${world.engine}}`]
}

export function headsOf(world: World, complete = true): Heads {
  return {
    revisionSet: combinationOf(world),
    complete,
    fleet: { url: FLEET, branch: 'main', commit: commitId(FLEET, world.fleetCommit) },
    sources: [{ url: TEAM, ref: { branch: 'main' }, commit: commitId(TEAM, world.teamCommit) }],
  }
}

/** The evaluation that an honest worker reaches in a world. */
export function evaluateFleet(world: World): EvaluatedNode[] {
  return NODES.map(({ name, parent, of }): EvaluatedNode => {
    const state = stateOf(world, name)
    const objects = state === 'opaque' && world.engine % 2 === 0 ? [] : objectsOf(world, name)
    const url = of === 'fleet' ? FLEET : TEAM
    const commit = commitId(url, of === 'fleet' ? world.fleetCommit : world.teamCommit)
    return {
      key: keyOf(name),
      cluster: CLUSTER,
      namespace: 'flux-system',
      name,
      parent: parent === null ? null : keyOf(parent),
      user: 'system:serviceaccount:flux-system:reconciler',
      impersonated: state !== 'nobody',
      tenant: null,
      source: {
        id: name,
        url,
        commit: state === 'opaque' && world.engine % 2 === 0 ? '' : commit,
        opaque: state === 'opaque' ? 'unread' : null,
      },
      dependsOn: [],
      suspend: false,
      prune: true,
      settings: DEFAULT_SETTINGS,
      digest: objects.length === 0 ? '' : hash(`${objects.join('\n')}\n`),
      findings: state === 'violation' ? [finding('fresh')] : state === 'known' ? [finding('known')] : [],
      failures: state === 'error' ? [failure()] : [],
      objects,
      hides: [],
      refused: [],
    }
  })
}

const origin = { repository: FLEET, file: 'a.yaml', line: 1, column: 1 }

const failure = (): NodeFailure => ({
  code: 'yaml-syntax',
  state: 'standing',
  message: 'broken',
  fix: 'mend',
  origin,
  cluster: CLUSTER,
  tenant: '',
  node: '',
  fingerprint: 'broken',
})

const finding = (fingerprint: string): Finding => ({
  rule: 'sa-required',
  level: 'violation',
  severity: 'critical',
  // a state that says nothing: only the baseline does
  state: 'standing',
  cluster: CLUSTER,
  tenant: '',
  identity: '',
  object: { apiVersion: 'v1', kind: 'Secret', namespace: '', name: 'x' },
  field: '/kind',
  origin,
  via: [],
  message: 'bad',
  fix: 'mend',
  node: '',
  fingerprint,
})
