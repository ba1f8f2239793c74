import { describe, expect, test } from 'vitest'
import { BailiwickError } from '../../src/base/errors.ts'
import { message, part } from '../../src/base/message.ts'
import { repositoryPart } from '../../src/github/client/octokit.ts'
import { checkRunOf, openError } from '../../src/report/check-run.ts'
import { commentOf } from '../../src/report/comment.ts'
import { changesFor } from '../../src/report/outcome.ts'
import { checkPageOf } from '../../src/report/page/build-pages.ts'
import { viewFor } from '../../src/report/text/audience.ts'
import type { EvaluatedNode } from '../../src/rules/model/finding.ts'
import { CHECK_NAME } from '../../src/verdict/check-names.ts'
import { NO_COUNTS, type NodeChange } from '../../src/verdict/diff/changes.ts'
import { node } from '../surface/web/sample-pages.ts'
import { OPS, verdict } from './samples.ts'

const HEAD = 'a'.repeat(40)
const place = { owner: 'acme', repo: 'ops-team', check: CHECK_NAME, at: '2026-11-21T20:00:00.000Z' }

/** A view of ops-team; everything of dev-team is a trace. */
const TRACE = /dev-team|zq/

describe('a source that nobody could read', () => {
  const told = (source: string, url: string) => {
    const outcome = verdict({ notSeen: [{ source, url, reason: 'it is private' }] })
    const context = { kind: 'pull-request', repository: OPS, headSha: HEAD, audience: ['ops-team'] } as const
    const page = checkPageOf(outcome, context, place)
    return JSON.stringify([
      viewFor(outcome, ['ops-team'], OPS).verdict.notSeen,
      checkRunOf(outcome, context),
      page.verdict?.notSeen,
    ])
  }

  test('of another tenant is not told because it is called like a namespace of this one', () => {
    expect(told('GitRepository/zq-apps/ops', 'https://github.com/acme/zq')).not.toMatch(TRACE)
    expect(told('ops/zq-apps/x', 'https://github.com/acme/zq')).not.toMatch(TRACE)
  })

  test('of another tenant that leads here does not say whose it is', () => {
    const said = told('GitRepository/apps/dev-team', OPS)
    expect(said).toContain(OPS)
    expect(said).not.toMatch(/dev-team|apps/)
  })

  test('that only another tenant follows is not told, though it leads here', () => {
    const source = { ...node().source, id: 'GitRepository/apps/web', url: OPS }
    const notSeen = [{ source: source.id, url: OPS, reason: 'it is private' }]
    const seenWith = (tenant: string | null) =>
      viewFor(verdict({ notSeen }), ['ops-team'], OPS, [node({ tenant, source })]).verdict.notSeen.length
    expect(['dev-team', 'ops-team', null].map(seenWith)).toEqual([0, 1, 1])
  })

  test('of its own is told', () => {
    expect(told('GitRepository/ops/charts', 'https://github.com/acme/charts')).toContain('acme/charts')
  })
})

describe('an error that came before any verdict', () => {
  const context = { kind: 'pull-request', repository: OPS, headSha: HEAD } as const
  const told = (error: BailiwickError) =>
    JSON.stringify([
      checkRunOf(error, context),
      commentOf(error, context),
      checkPageOf(error, context, place),
      openError(error, OPS).message,
    ])
  const origin = { repository: 'https://github.com/acme/dev-team', file: 'zq.yaml', line: 1, column: 1 }
  const own = { owner: 'acme', repo: 'ops-team' }
  const zq = { owner: 'acme', repo: 'dev-team' }

  test.each([
    new BailiwickError('git-truncated', 'GitHub does not list all files of acme/dev-team: the repository is too large'),
    new BailiwickError('github-unavailable', 'Could not read the tree of acme/ops-team-zq: GitHub is not available'),
    new BailiwickError('github-unavailable', 'Could not compare acme/ops-team and acme/dev-team: no answer'),
    new BailiwickError('source-unreadable', 'https://github.com/acme/dev-team: the branch does not exist'),
    new BailiwickError('render-limits', 'too large', { origin, fix: 'Look at dev-team.' }),
    new BailiwickError('github-unavailable', message`Could not list a tree of ${repositoryPart(zq)}: no answer`),
    new BailiwickError(
      'github-unavailable',
      message`Could not compare ${repositoryPart(own)} and ${repositoryPart(zq)}`,
    ),
    // what only looks like running text, and what looks like the reader's own
    ...(['tenant', 'object', 'identity', 'path', 'field', 'value'] as const).map(
      type => new BailiwickError('evaluation-limits', message`it stands in ${part(type, 'zq')}`),
    ),
    new BailiwickError(
      'github-unavailable',
      message`read ${part('repository', 'https://git.zq.example/acme/ops-team')}`,
    ),
    new BailiwickError('github-unavailable', message`read ${part('repository', 'zq/fork/acme/ops-team')}`),
  ])('of another repository does not name it: $message', error => {
    expect(told(error)).not.toMatch(TRACE)
    expect(told(error)).toContain('the cause is in another repository')
  })

  test.each([
    new BailiwickError('git-truncated', 'GitHub does not list all files of acme/ops-team: the repository is too large'),
    new BailiwickError(
      'merge-conflict',
      'acme/ops-team#5 conflicts with "feature/one", so nobody can say what it gives',
    ),
    new BailiwickError('evaluation-limits', 'rendering and judging took more than 30 ms'),
    new BailiwickError('git-truncated', message`GitHub does not list all files of ${repositoryPart(own)}`),
    new BailiwickError(
      'merge-conflict',
      message`${repositoryPart(own, 5)} conflicts with ${part('branch', 'release/1', '"release/1"')}`,
    ),
    new BailiwickError(
      'check-shared',
      message`merging into ${part('branch', 'release/1', '"release/1"')} takes ${30} ms`,
    ),
    new BailiwickError('git-truncated', message`all of ${part('repository', 'https://github.com/Acme/Ops-Team')}`),
    new BailiwickError('internal', 'Bailiwick itself failed'),
  ])('of its own is told: $message', error => {
    expect(told(error)).toContain(JSON.stringify(error.message).slice(1, 20))
    expect(told(error)).not.toContain('the cause is in another repository')
  })
})

test('a field and an image of its own object name nobody else', () => {
  const change: NodeChange = {
    ...{ node: 'staging/ops/ops-team', cluster: 'staging', namespace: 'ops', name: 'ops-team', tenant: 'ops-team' },
    ...{ sources: [], change: 'changed', suspended: false, prune: true, counts: { ...NO_COUNTS, changed: 1 } },
    objects: [
      {
        id: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ops', name: 'x' },
        change: 'changed',
        fields: [{ path: 'data.dev-team', change: 'removed', was: 'of dev-team' }],
        fieldCount: 1,
      },
    ],
    images: [
      { was: 'registry.example/dev-team/web:1', now: 'registry.example/ops/web:1', objects: ['Deployment ops/x'] },
    ],
  }
  const nodes: EvaluatedNode[] = [
    node({ key: change.node, namespace: 'ops', name: 'ops-team', tenant: 'ops-team', objects: [] }),
  ]
  const changes = {
    ...{ nodes: [change], rights: [], tenants: [], clusters: [], totals: change.counts, hidden: 0 },
    left: { nodes: 0, objects: 0, fields: 0, rights: 0, tenants: 0, clusters: 0 },
  }
  expect(JSON.stringify(changesFor(changes, ['ops-team'], verdict(), nodes))).not.toMatch(TRACE)
})
