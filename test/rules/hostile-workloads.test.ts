import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exportedRules } from '../../docs/rules-registry.ts'
import { plainText } from '../../src/base/message.ts'
import { FleetIndex } from '../../src/fleet/facts/fleet-index.ts'
import { parseDocuments } from '../../src/kube/yaml/parse-documents.ts'
import { Subject, type TenantSubject, type Violation } from '../../src/rules/model/rule.ts'
import { rules } from '../../src/rules/registry.ts'
import { assignedCredential, credentialIn } from '../../src/rules/secrets/credential-text.ts'
import { fleetOf } from '../fleet/fleet-of.ts'
import { miniFleet } from '../fleet/mini-fleet.ts'

const ids = new Set(exportedRules('{flux,secrets,workloads}/*.ts').map(({ id }) => id))
const RULES = rules.filter(({ id }) => ids.has(id))
const KINDS = [...new Set(RULES.flatMap(rule => (Array.isArray(rule.kinds) ? (rule.kinds as string[]) : [])))]
const WORDS =
  `spec template metadata annotations labels namespace name data stringData sops mac age pgp kms containers initContainers env value
  securityContext privileged capabilities add hostNetwork volumes hostPath path ports hostPort tolerations key operator nodeSelector affinity
  nodeAffinity requiredDuringSchedulingIgnoredDuringExecution nodeSelectorTerms matchExpressions values valuesFrom targetPath externalIPs type
  rules host tls hosts hostnames install upgrade crds decryption secretRef postBuild substituteFrom substitute kind webhooks clientConfig service
  conversion webhook postRenderers kustomize patches patch op items password __proto__ constructor jobTemplate serviceAccountToken sources
  projected key_groups nginx.ingress.kubernetes.io/configuration-snippet`.split(/\s+/)

const { value } = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 7 },
    fc.constantFrom<unknown>(
      null,
      true,
      false,
      0,
      -1,
      2 ** 40,
      '',
      'a',
      '0',
      'Secret',
      '*',
      'ENC[AES256_GCM,data:aA==]',
      'ENC[',
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(fc.constantFrom(...WORDS), tie('value')), { maxLength: 6 }).map(pairs => new Map(pairs)),
  ),
}))

const text = (node: unknown): string => {
  if (node instanceof Map)
    return `{${[...node].map(([key, inner]) => `${JSON.stringify(key)}:${text(inner)}`).join(',')}}`
  return Array.isArray(node) ? `[${node.map(text).join(',')}]` : JSON.stringify(node)
}

test('no object makes a rule throw, and what it says is one line', () => {
  const fleet = fleetOf(miniFleet())
  const index = new FleetIndex(fleet)
  const node = fleet.nodes.find(({ tenant }) => tenant !== undefined)!
  const context = { index, config: fleet.config }
  fc.assert(
    fc.property(
      fc.constantFrom(...KINDS, 'acme.io/Thing'),
      fc.dictionary(fc.constantFrom(...WORDS), value),
      (full, fields) => {
        const [group = '', kind = ''] = full.split('/')
        const id = `"apiVersion":${JSON.stringify(group ? `${group}/v1` : 'v1')},"kind":"${kind}"`
        const own = Object.entries(fields)
          .filter(([key]) => key !== 'kind')
          .map(([key, inner]) => `,${JSON.stringify(key)}:${text(inner)}`)
        const [root] = parseDocuments({ repository: '', path: 'x' }, Buffer.from(`{${id}${own.join('')}}`))
        if (root?.type !== 'map') return
        const object = { root, trail: [] }
        const subject = new Subject({ node, object }) as TenantSubject
        for (const rule of RULES) {
          if (rule.kinds !== 'every' && !rule.kinds?.includes(full)) continue
          for (const breach of rule.checkObject?.(subject, context) ?? []) expectSound(breach)
          for (const breach of rule.checkTenantObject?.(subject, context) ?? []) expectSound(breach)
        }
      },
    ),
    { numRuns: 1_500, seed: 5 },
  )
})

function expectSound({ message: said, fix: how, value }: Violation): void {
  const [message, fix] = [plainText(said), plainText(how)]
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
  expect(message).toMatch(/^[^\x00-\x1f]{10,}$/)
  expect(message).not.toMatch(/undefined|\[object|NaN/)
  expect(fix).not.toBe('')
  expect(typeof value).toBe('string')
}

test.each([
  ['tokens without an end', 'eyJ'.repeat(300_000)],
  ['beginnings of tokens', 'eyJaaaaaaaaaaaa.'.repeat(60_000)],
  ['beginnings of keys', '-----BEGIN PRIVATE KEY-----'.repeat(30_000)],
  ['logins of registries', '"auth": "aaaaaaaa'.repeat(50_000)],
  ['names of keys', 'aws_secret_access_key = '.repeat(40_000)],
  ['one long word', 'A'.repeat(1_000_000)],
  ['base64 of a beginning', 'LS0tLS1CRUdJTi'.repeat(70_000)],
  ['assignments', 'password='.repeat(100_000)],
  ['spaces before an assignment', `${' '.repeat(300)}password\n`.repeat(3_000)],
])('a megabyte of %s takes no time', (_what, long) => {
  const start = process.cpuUsage()
  credentialIn(long)
  assignedCredential(long)
  const { user } = process.cpuUsage(start)
  expect(user / 1000).toBeLessThan(20_000)
})
