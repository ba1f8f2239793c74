import { describe, expect, test } from 'vitest'
import { mayLeadTo, namedRepositories } from '../../src/fleet/model/source-access.ts'
import type { MapNode } from '../../src/kube/node.ts'
import { findUnseen, parseDocuments } from '../../src/kube/yaml/parse-documents.ts'
import { scanObject } from '../../src/rules/kustomize/object-scan.ts'
import { evaluationOf } from '../fleet/fleet-of.ts'
import { miniFleet, withResource } from '../fleet/mini-fleet.ts'

const FILE = { repository: '', path: 'a.yaml' }
const lines = (count: number, of: (i: number) => string) => Array.from({ length: count }, (_, i) => of(i)).join('\n')
/** Rules and codes of what is found where the files are added to the tenant's. */
function found(files: Record<string, string>, base: Record<string, string> = {}): string[] {
  const { verdict } = evaluationOf(miniFleet({ dev: files }), { base: miniFleet({ dev: base }) })
  const all = [...verdict.violations, ...verdict.warnings].filter(one => one.state === 'new').map(one => one.rule)
  return [...new Set([...all, ...verdict.errors.map(one => one.code)])].sort()
}

describe('what comes after many harmless ones is looked at', () => {
  test('a line of .gitattributes', () => {
    const harmless = lines(5_000, i => `docs/x${i} text`)
    expect(found({ '.gitattributes': `${harmless}\n` })).toEqual([])
    expect(found({ '.gitattributes': `${harmless}\n*.yaml filter=x\n` })).toEqual(['git-attributes-tamper'])
    expect(found({ '.gitattributes': `*.yaml${' text'.repeat(1_000)} filter=x\n` })).toEqual(['git-attributes-tamper'])
  })

  test('an attribute that comes by macros of macros', () => {
    const macros = lines(40, i => `[attr]m${i} ${i === 0 ? 'filter=x' : `m${i - 1} m${i - 1}`}`)
    expect(found({ '.gitattributes': `${macros}\n*.yaml m39\n` })).toEqual(['git-attributes-tamper'])
    const many = lines(60, i => `[attr]m${i} ${lines(100, j => `a${i}x${j}`).replaceAll('\n', ' ')} m${i - 1}`)
    expect(found({ '.gitattributes': `${many}\n${lines(100, () => 'docs/* m59')}\n` })).toEqual(['render-limits'])
  })

  test('a pattern of .sourceignore, however it is written', () => {
    const harmless = lines(4_900, i => `/x${i}`)
    expect(found({ '.sourceignore': `${harmless}\n` })).toEqual([])
    expect(found({ '.sourceignore': `!${'**/'.repeat(300)}.github\n` })).toContain('source-ignore-tamper')
    expect(found({ '.sourceignore': `${lines(5_001, i => `/x${i}`)}\n!.github\n` })).toEqual([
      'render-limits',
      'source-ignore-tamper',
    ])
  })

  test('a character that is not seen, where many stood before', () => {
    const text = `${lines(9, i => `a${i}: b # \u202e`)}\na9: b # \u200b`
    const position = (line: number, column: number) => ({ repository: '', file: 'a.yaml', line, column })
    expect(findUnseen(text, position).map(({ origin }) => origin.line)).toEqual([1, 10])
  })

  test('a text that is long, and the many values of an object', () => {
    const templated = (body: string) => scanObject(parseDocuments(FILE, Buffer.from(body))[0] as MapNode).templated
    expect(templated(`a: "${'x'.repeat(3_000)}\${b}"`)).toHaveLength(1)
    expect(templated(lines(60, i => `a${i}: \${b}`))).toHaveLength(60)
  })

  test('a value of a chart', () => {
    const release = (values: string) =>
      `apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: h, namespace: apps}\nspec: {interval: 5m, serviceAccountName: dev-team, chart: {spec: {chart: x, version: 1.0.0, sourceRef: {kind: HelmRepository, name: c}}}, ${values}}`
    const target = (path: string) =>
      found(withResource(release(`valuesFrom: [{kind: ConfigMap, name: c, targetPath: ${path}}]`)))
    expect(target(`${'a.'.repeat(600)}hostNetwork`)).toContain('render-limits')
    expect(target('a.b')).not.toContain('render-limits')
  })

  test('a credential in a file that is large', () => {
    const big = '# nothing here\n'.repeat(30_000)
    expect(found({ 'deploy/big.txt': big })).toEqual([])
    expect(
      found({ 'deploy/big.txt': `${big}-----BEGIN RSA PRIVATE KEY-----\n${'MIIEpAIBAAKCAQEA'.repeat(10)}\n` }),
    ).toEqual(['plaintext-secret'])
  })

  test('a repository that a platform file names', () => {
    const texts = [lines(10_001, i => `https://github.com/other/x${i}`)]
    expect(mayLeadTo(namedRepositories(texts), 'https://github.com/acme/dev-team')).toBe(true)
    expect(mayLeadTo(namedRepositories(['https://github.com/other/x']), 'https://github.com/acme/dev-team')).toBe(false)
  })
})

test('aggregated ClusterRoles beyond the limit are the error of the tenant who writes them', () => {
  const aggregated = (count: number) =>
    Array.from(
      { length: count },
      (_, i) =>
        `apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r${i}}\naggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}`,
    ).join('\n---\n')
  const errorsOf = (dev: string, platform = '') => {
    const resources = 'resources: [dev-team.yaml, ops-team.yaml, roles.yaml]\n'
    const fleet = platform === '' ? {} : { 'tenants/kustomization.yaml': resources, 'tenants/roles.yaml': platform }
    const { verdict } = evaluationOf(miniFleet({ dev: withResource(dev), fleet }), { base: miniFleet() })
    return verdict.errors.map(({ code, tenant, node, message }) => [code, tenant, node, message])
  }
  // each is a role with a selector that has a requirement with a value
  expect(errorsOf(aggregated(25))).toEqual([])
  expect(errorsOf(aggregated(26))).toEqual([
    ['render-limits', 'dev-team', 'staging/apps/dev-team', expect.stringContaining('more than 100 roles, selectors')],
  ])
  const harmless = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: apps}'
  expect(errorsOf(harmless, aggregated(200))).toEqual([])
})

test('what cannot be looked at is the error of the tenant whose it is', () => {
  const many = lines(60, i => `[attr]m${i} ${lines(100, j => `a${i}x${j}`).replaceAll('\n', ' ')} m${i - 1}`)
  const dev = { '.gitattributes': `${many}\n${lines(100, () => '* m59')}\n` }
  const { verdict } = evaluationOf(miniFleet({ dev }), { base: miniFleet() })
  expect(verdict.errors.map(({ code, tenant, node, origin }) => [code, tenant, node, origin.file])).toEqual([
    ['render-limits', 'dev-team', 'staging/apps/dev-team', expect.any(String)],
  ])
})
