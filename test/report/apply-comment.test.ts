import { expect, test } from 'vitest'
import { applyComment } from '../../src/report/apply-comment.ts'
import type { AppliedNode } from '../../src/report/apply-report.ts'
import { type ClusterPage, type NodeState, nodeState } from '../../src/report/cluster-page.ts'
import type { EvaluatedNode } from '../../src/rules/model/finding.ts'

const HERE = 'https://github.com/acme/fleet'
const [OLD, NEW] = ['a'.repeat(40), 'b'.repeat(40)]
const KEY = 'staging/apps/web'
const evaluated = (digest: string): EvaluatedNode =>
  ({ digest, user: 'u', path: './apps', source: { url: HERE } }) as never
const object = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'apps', name: 'settings' }

const applied = (more: Partial<AppliedNode> = {}): AppliedNode => ({
  key: KEY,
  user: 'u',
  outcome: 'applied',
  objects: [{ object, action: 'unchanged' }],
  ...more,
})
const created = applied({ objects: [{ object, action: 'created' }] })
const failed = applied({ outcome: 'failed', reason: 'the API server is away', objects: [] })
const held = applied({ outcome: 'held', reason: 'it is on hold', objects: [] })

interface Moment {
  readonly commit?: string
  readonly digest?: string
  readonly now?: string
}
const state = (
  one: AppliedNode | undefined,
  before?: NodeState,
  { commit = NEW, digest = 'd', now = '2026-01-01T00:00:00Z' }: Moment = {},
) => nodeState(KEY, one, { here: HERE, node: evaluated(digest), repository: HERE, commit, now }, before)
const page = (nodes: readonly NodeState[], more: Partial<ClusterPage> = {}): ClusterPage => ({
  ...{ kind: 'cluster', owner: 'acme', repo: 'fleet', repositoryId: 1, visibility: 'private', repository: HERE },
  ...{ cluster: 'staging', at: '2026-01-01T00:00:00Z', isRunning: false, nodes, drift: [] },
  ...more,
})
const comment = (nodes: readonly NodeState[], authors: readonly string[] = [], more: Partial<ClusterPage> = {}) =>
  applyComment([page(nodes, more)], {
    here: HERE,
    commit: NEW,
    authors: new Map([[KEY, authors]]),
    page: cluster => `https://bailiwick.example/clusters/acme/fleet/${cluster}`,
  })

test('what a commit changed is told, also when a later run of it finds everything in place', () => {
  const first = state(created)
  const later = state(applied(), first)
  expect(later).toMatchObject({ phase: 'applied', counts: { created: 1 }, since: NEW })
  expect(comment([later])).toBe(comment([first]))
  expect(comment([first])).toContain('✅ **Applied: 1 Kustomization**')
  // the next commit does not change it
  expect(comment([state(applied(), later, { commit: NEW.replace('b', 'c') })])).toBeUndefined()
  expect(comment([state(applied(), state(created, undefined, { commit: OLD }))])).toBeUndefined()
})

test('progress: pending, then waiting, then applied, each of them another text; the same state is the same text', () => {
  const before = state(created, undefined, { commit: OLD, digest: 'old' })
  const pending = state(undefined, before)
  const waiting = state(applied({ reason: 'its health checks still run', objects: created.objects }), pending)
  const done = state(applied(), waiting)
  const texts = [pending, waiting, done].map(one => comment([one]))
  expect(texts.map(text => text?.split('\n')[1])).toEqual([
    '⏳ **0 of 1 Kustomization applied**',
    '⏳ **0 of 1 Kustomization applied**',
    '✅ **Applied: 1 Kustomization**',
  ])
  expect(new Set(texts).size).toBe(3)
  expect(pending).toMatchObject({ objects: [], appliedAt: '2026-01-01T00:00:00Z' })
  const later = state(applied({ reason: 'its health checks still run' }), waiting, { now: '2027-01-01T00:00:00Z' })
  expect(comment([later])).toBe(texts[1])
})

test('what failed or was held before, and this commit does not touch, is counted and asks nobody', () => {
  const before = [failed, held].map(one => state(one, undefined, { commit: OLD }))
  const now = [failed, held].map((one, at) => ({ ...state(one, before[at]), key: `staging/apps/old-${at}` }))
  expect(comment(now, ['ada'])).toBeUndefined()
  const text = comment([...now, state(created)], ['ada'])!
  expect(text).toContain('2 Kustomizations held or failed before this commit, and not because of it.')
  expect(text).not.toContain('@ada')
  // with other objects it is this commit's
  expect(comment([state(failed, before[0], { digest: 'other' })], ['ada'])).toContain('@ada')
})

test('a run that ended before its end says why, and is nothing that a node’s author can mend', () => {
  const text = comment([state(undefined)], ['ada'], { problem: 'cluster staging: @everyone `x`' })!
  expect(text).toContain('❌ **Not applied**')
  expect(text).not.toMatch(/(^|[^`])@everyone/)
  expect(text).not.toContain('@ada')
})

test('only logins are mentioned: no team, no name of a commit, no more than five', () => {
  const names = ['ada', 'acme/platform', '@everyone', 'a b', 'renovate[bot]', '-x', 'x--y', 'b', 'c', 'd', 'e', 'f']
  const text = comment([state(failed)], names)!
  expect(text.match(/@[\w/[\]-]+/g)).toEqual(['@ada', '@b', '@c', '@d', '@e'])
})

test('names, reasons and files from outside are no Markdown', () => {
  const hostile = '`x` <img src=x> [y](http://evil) @everyone #1'
  const place = { repository: HERE, file: `a)](http://evil) ${hostile}.yaml`, line: 3 }
  const message = `${hostile}\n# heading`
  const refused = applied({
    key: `staging/apps/${hostile}`,
    reason: hostile,
    objects: [{ object: { ...object, name: hostile }, action: 'refused', message, place }],
  })
  const text = comment([{ ...state(refused), key: `staging/apps/${hostile}` }])!
  const plain = text.replace(/(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g, '')
  expect(plain).not.toMatch(/<img|@everyone|#1|\(http:\/\/evil/)
  expect(text.split('\n').some(line => line.startsWith('# heading'))).toBe(false)
})

test('values of Secrets are not kept', () => {
  const secret = { ...object, kind: 'Secret' }
  const message = 'Secret "settings" is invalid: data: Invalid value: "aHVudGVyMg=="'
  const kept = state(applied({ reason: 'password=hunter2', objects: [{ object: secret, action: 'refused', message }] }))
  expect(JSON.stringify(kept)).not.toMatch(/aHVudGVyMg|hunter2/)
})

test('a thousand changed Kustomizations fit, and what is left out is counted', () => {
  const many = Array.from({ length: 1000 }, (_, at) => ({ ...state(created), key: `staging/apps/tenant-${at}` }))
  const text = comment(many)!
  expect(text.length).toBeLessThanOrEqual(60_000)
  expect(text).toMatch(
    /\*\*Left out for length:\*\* \d+ × changed Kustomization\. The page of the cluster has the rest\./,
  )
})

test('lines of a third repository are not kept', () => {
  const place = { repository: 'https://github.com/acme/secret', file: 'plan.yaml', line: 1 }
  const kept = state(applied({ outcome: 'failed', place, objects: [{ object, action: 'refused', place }] }))
  expect(JSON.stringify(kept)).not.toContain('plan.yaml')
})
