import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readFleetFile } from '../../../src/fleet/config/fleet-file.ts'
import { fleetSchema } from '../../../src/fleet/config/fleet-shape.ts'
import { FLEET_FILE } from '../../../src/fleet/model/fleet-config.ts'
import { treeOf } from '../../base/git/tree-of.ts'

const published = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../docs/bailiwick.schema.json'), 'utf8'),
) as object
const validate = new Ajv({ strict: true, strictRequired: false }).compile(published)
const reads = (value: unknown) =>
  readFleetFile(treeOf({ [FLEET_FILE]: JSON.stringify(value) }), '').error?.message ?? 'read'

test('docs/bailiwick.schema.json is what the reader is made of; `npm run generate` writes it', () => {
  expect(published).toEqual(JSON.parse(JSON.stringify(fleetSchema())))
})

/** A value and, rarely, something that fits nowhere. */
const mostly = <T>(good: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 150, arbitrary: good as fc.Arbitrary<unknown> },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(null, 7, '', 'x y', [], {}, true, ['a'], { a: 'b' }, 'Ä\u0007') },
  )
/** The first value is fine; most often it is taken. */
const some = (first: string, ...others: string[]) =>
  mostly(fc.oneof({ weight: 12, arbitrary: fc.constant(first) }, ...others.map(value => fc.constant(value))))
const record = (fields: Record<string, fc.Arbitrary<unknown>>, requiredKeys: string[] = []) => {
  const known = fc.record(fields, { requiredKeys })
  // one in some has a key too many
  const surplus = fc.integer({ min: 0, max: 60 }).map(dice => (dice === 0 ? { surplus: 1 } : {}))
  return mostly(fc.tuple(known, surplus).map(([value, more]) => ({ ...value, ...more })))
}
const list = (item: fc.Arbitrary<unknown>) => mostly(fc.array(item, { maxLength: 1 }))

const rule = some('sa-required', 'pod-security', 'SA', '-')
const cluster = some('staging', 'a.b_c', '-x')
const name = some('default', 'dev-team', 'Dev')
const sources = list(some('https://github.com/acme/*', 'git@github.com:acme/**', 'oci://ghcr.io/acme/*', '*', 'acme'))
const address = some('https://github.com/acme/fleet', 'git@github.com:acme/web.git', 'acme/fleet')
const object = record({ kind: some('Role', 'apps/Deployment', 'role'), namespace: name, name }, ['kind', 'name'])
const waiver = {
  rule,
  object,
  cluster,
  reason: some('why', ' '),
  requester: some('dora'),
  approver: some('who'),
  expires: some('2026-12-31', 'x'),
}
const file = record({
  profile: some('baseline', 'restricted'),
  enforcement: some('block', 'report'),
  allowedSources: sources,
  opaqueSources: some('allow', 'forbid'),
  gatedBranches: list(record({ url: address, branch: some('main', 'a b') }, ['url', 'branch'])),
  allowedKubeConfigs: list(name),
  minimumInterval: some('30s', '1h', '1m30s', '30', 's'),
  severities: mostly(
    fc.dictionary(
      fc.constantFrom('sa-required', 'pod-security', 'x-1', 'NO'),
      some('critical', 'warning', 'off', 'none'),
    ),
  ),
  approvers: list(some('ada', '@acme/platform', 'a b', 'a/b/c')),
  waivers: list(record(waiver, ['rule', 'object', 'reason', 'expires'])),
  substituteFrom: list(
    record(
      {
        kind: some('ConfigMap', 'Secret', 'Pod'),
        namespace: name,
        name,
        cluster,
        values: mostly(fc.dictionary(fc.constantFrom('A', 'B'), some('text', ''))),
        opaque: fc.constantFrom<unknown>(true, true, ['C', 'D'], ['C'], ['C', 'C'], 'C'),
      },
      ['kind', 'namespace', 'name'],
    ),
  ),
  accounts: list(record({ name, namespace: name, cluster }, ['name'])),
  aliases: list(
    record({ url: address, addresses: list(some('https://git.test/x', 'git@work:acme/fleet')) }, ['url', 'addresses']),
  ),
  sources: list(
    record(
      {
        kind: some('GitRepository', 'Bucket', 'HelmRepository'),
        namespace: name,
        name,
        url: some('https://github.com/acme/x', 'oci://ghcr.io/acme/x', 'a b'),
        ref: record({ branch: some('main', 'a b'), commit: some('a'.repeat(40), 'abc'), semver: some('>=1.0.0') }),
        clusters: list(cluster),
      },
      ['kind', 'namespace', 'name', 'url'],
    ),
  ),
  tenants: list(
    record(
      {
        name,
        namespaces: list(name),
        clusters: list(cluster),
        allowedSources: sources,
        enforcement: some('block', 'report'),
        profile: some('baseline'),
        repositories: list(record({ url: address, id: mostly(fc.constantFrom(1, 0, 1.5)) }, ['url', 'id'])),
      },
      ['name'],
    ),
  ),
})

test('the schema accepts what the reader reads, and refuses what it refuses', () => {
  const seen = { read: 0, refused: 0 }
  fc.assert(
    fc.property(file, value => {
      const said = reads(value)
      // an empty file has nothing to look at; control characters are refused as encodings before any key is looked at
      if (value === null || said.includes('character')) return
      expect({ value, said, read: said === 'read' }).toEqual({ value, said, read: validate(value) })
      seen[said === 'read' ? 'read' : 'refused']++
    }),
    { numRuns: 2000, seed: 7 },
  )
  expect(Math.min(seen.read, seen.refused)).toBeGreaterThan(150)
})
