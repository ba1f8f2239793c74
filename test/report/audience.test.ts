import { describe, expect, test } from 'vitest'
import { openSnapshot, packSnapshot, type SnapshotFile, type Tree } from '../../src/git/tree.ts'
import { checkRunOf } from '../../src/report/check-run.ts'
import { commentOf } from '../../src/report/comment.ts'
import type { Evaluation } from '../../src/rules/model/finding.ts'
import { EvaluateSession } from '../../src/verdict/evaluate-sides.ts'
import { changesOf, filesOf, readCases } from '../attacks/attack-case.ts'
import { evaluateTrees } from '../attacks/evaluate-trees.ts'
import { type Repository, worlds } from '../attacks/worlds/index.ts'
import { DEV_URL } from '../fleet/mini-fleet.ts'

/** What the other tenant's world is called, everywhere, so that any trace of it is seen. */
const RENAMED: readonly (readonly [RegExp, string])[] = [
  [/\bops-team\b/g, 'zq-team'],
  [/\bops\b/g, 'zqspace'],
]
const rename = (text: string) => RENAMED.reduce((out, [pattern, word]) => out.replace(pattern, word), text)
const TRACE = /\bzq[\w-]*/g

/** More of the other tenant, beside what the world has. */
const MORE = `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: zqserver, namespace: zqspace}
spec: {template: {spec: {containers: [{name: zqbox, image: zqimage}]}}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: zqcharts, namespace: zqspace}
spec: {interval: 1h, url: https://charts.example.com/zqpath}
`

function renamed(files: ReadonlyMap<Repository, SnapshotFile[]>): Map<Repository, SnapshotFile[]> {
  return new Map(
    [...files].map(([repository, list]) => [
      { ...repository, url: rename(repository.url) },
      list.map(file => {
        const content = typeof file.content === 'string' ? rename(file.content) : file.content
        const more = repository.name === 'ops' && file.path === 'deploy/config.yaml' ? MORE : ''
        return { ...file, path: rename(file.path), content: more === '' ? content : `${content}${more}` }
      }),
    ]),
  )
}

const treesOf = (files: ReadonlyMap<Repository, SnapshotFile[]>): Map<Repository, Tree> =>
  new Map([...files].map(([repository, list]) => [repository, openSnapshot(packSnapshot(list))]))

/** Everything that dev-team's repository is told. */
function told({ verdict, nodes }: Evaluation): string {
  const tenants = nodes.filter(({ source }) => source.url === DEV_URL).map(({ tenant }) => tenant ?? '')
  const context = { kind: 'pull-request', repository: DEV_URL, headSha: 'a'.repeat(40) } as const
  const said = { ...context, audience: [...new Set(tenants)], nodes }
  // who deploys from it, too, is told of by right
  if (said.audience.includes('zq-team')) return ''
  return JSON.stringify([checkRunOf(verdict, said), commentOf(verdict, said)])
}

/** Words of the other tenant that stand in what dev-team wrote itself. */
const written = (files: ReadonlyMap<Repository, SnapshotFile[]>) =>
  new Set(
    [...files].flatMap(([{ name }, list]) => {
      if (name !== 'dev') return []
      return list.flatMap(({ path, content }) => `${path} ${content}`.match(TRACE) ?? [])
    }),
  )

describe('no attack lets a tenant read the names of another one', () => {
  const sessions = new Map([...worlds.values()].map(world => [world, new EvaluateSession()]))
  for (const one of readCases()) {
    test(`${one.id}: ${one.title}`, () => {
      const before = treesOf(renamed(filesOf(one.world, one.base)))
      for (const [name, variant] of [...one.variants].slice(0, 5)) {
        const files = renamed(filesOf(one.world, one.base, changesOf(variant)))
        const own = written(files)
        const base = variant.onlyAsChange ? before : undefined
        const evaluation = evaluateTrees(treesOf(files), base, sessions.get(one.world))
        const traces = (told(evaluation).match(TRACE) ?? []).filter(word => !own.has(word))
        expect(traces, name).toEqual([])
      }
    })
  }
})

test('the fleet’s own repository is told all names', () => {
  const { verdict } = evaluateTrees(treesOf(renamed(filesOf(worlds.get('acme')!))))
  const run = checkRunOf(verdict, {
    kind: 'branch',
    repository: 'https://github.com/acme/fleet',
    headSha: 'a'.repeat(40),
  })
  expect(run.summary).toContain('zq-team')
})
