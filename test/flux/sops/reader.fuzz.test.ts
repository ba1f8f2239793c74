import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { BailiwickError } from '../../../src/base/errors.ts'
import { creationRuleFor } from '../../../src/flux/sops/creation-rule.ts'
import { verifyMac } from '../../../src/flux/sops/decrypt-object.ts'
import { sealSecret } from '../../../src/flux/sops/seal-document.ts'
import { type Json, type Node, toJson } from '../../../src/kube/node.ts'
import { sealOf } from '../../../src/kube/sops.ts'
import { parseDocuments } from '../../../src/kube/yaml/parse-documents.ts'
import { treeOf } from '../../base/git/tree-of.ts'
import { findProgram } from '../../repository/runner/programs.ts'
import { openDocument } from './open-document.ts'
import { agePair, type Pair, SopsFolder } from './real-sops.ts'

const PATH = 'secret.yaml'
const VALUE = 'correct horse battery staple'
let age: Pair
let text = ''
beforeAll(async () => {
  age = await agePair()
  const config = `creation_rules:\n  - age: ${age.recipient}\n    encrypted_regex: ^(data|stringData)$\n`
  const rule = await creationRuleFor(treeOf({ '.sops.yaml': config }), PATH)
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'a', namespace: 'b' },
    immutable: true,
    stringData: { one: VALUE, two: 'second', three: '' },
  }
  text = await sealSecret(secret, rule, { now: new Date(0), random: randomBytes, publicKeys: [] })
})

function rootsOf(file: string): Node[] | undefined {
  try {
    return parseDocuments({ repository: '', path: PATH }, Buffer.from(file, 'latin1'))
  } catch (error) {
    if (error instanceof BailiwickError) return undefined
    throw error
  }
}
let known: { age: string[] } | undefined
const keys = () => (known ??= { age: [age.secret] })

describe('a damaged file', () => {
  const parts = [
    'ENC[',
    ']',
    'data:',
    ',iv:',
    'type:str',
    '"',
    '\n',
    '    ',
    'sops:',
    '- ',
    '{}',
    'null',
    '0',
    'A',
    '=',
  ]
  const edit = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.nat(40),
    insert: fc.oneof(fc.constantFrom(...parts), fc.string({ maxLength: 8 }), fc.constant('')),
  })

  test('is never sound unless it means the same, and no error carries a value', async () => {
    const [whole] = rootsOf(text)!
    const counts = { same: 0, broken: 0, unreadable: 0 }
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 3 }), async edits => {
        const damaged = edits.reduce((file, { at, length, insert }) => {
          const start = Math.floor(at * file.length)
          return file.slice(0, start) + insert + file.slice(start + length)
        }, text)
        const roots = rootsOf(damaged)
        if (!roots) {
          counts.unreadable++
          return
        }
        const seal = await verifyMac(roots, keys())
        if (seal === 'sound') {
          counts.same++
          expect(roots.map(covered).join('')).toBe(covered(whole!))
        } else counts.broken++
        await opensOrRefuses(roots)
      }),
      { seed: 11, numRuns: 1_000 },
    )
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(20)
  })

  test('with anything in the place of what SOPS writes', async () => {
    const [root] = rootsOf(text)!
    const plain = toJson(root!) as { sops: Record<string, Json>; [key: string]: Json }
    const field = fc.constantFrom('age', 'pgp', 'mac', 'lastmodified', 'key_groups', 'mac_only_encrypted', 'version')
    await fc.assert(
      fc.asyncProperty(field, fc.jsonValue({ maxDepth: 3 }), async (name, value) => {
        const file = JSON.stringify({ ...plain, sops: { ...plain.sops, [name]: value } })
        const roots = parseDocumentsOrNothing(file)
        if (!roots) return
        const seal = await verifyMac(roots, keys())
        if (name === 'age' || name === 'mac' || name === 'lastmodified') expect(seal).not.toBe('sound')
        await opensOrRefuses(roots)
      }),
      { seed: 12, numRuns: 1_000 },
    )
  })
})

const parseDocumentsOrNothing = (file: string) => rootsOf(Buffer.from(file).toString('latin1'))

async function opensOrRefuses(roots: readonly Node[]): Promise<void> {
  const [root] = roots
  if (root?.type !== 'map') return
  if (!sealOf({ root })) return
  try {
    const { stringData } = await openDocument(root, keys())
    // a value that opens is the value that was sealed there
    const one = (stringData as Record<string, Json> | undefined)?.one
    if (typeof one === 'string' && !one.startsWith('ENC[')) expect([VALUE, '']).toContain(one)
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    expect(error.code).toBe('cluster-invalid')
    expect(`${error.message} ${error.fix}`).not.toContain('horse')
  }
}

/** What the MAC of SOPS covers: the values in their order, and the paths of those that are encrypted; no other names. */
function covered(root: Node): string {
  const { sops: _sops, ...rest } = toJson(root) as { [key: string]: Json }
  const walk = (value: Json, path: string): string => {
    if (Array.isArray(value)) return value.map(item => walk(item, path)).join('')
    if (value === null) return ''
    if (typeof value === 'object')
      return Object.entries(value)
        .map(([name, inner]) => walk(inner, `${path}${name}:`))
        .join('')
    return typeof value === 'string' && value.startsWith('ENC[') ? `{${path}}` : String(value)
  }
  return walk(rest, '')
}

describe.skipIf(!findProgram('sops'))('files of the real sops', () => {
  const scalar = fc.oneof(
    fc.constantFrom(
      'yes',
      'off',
      '0644',
      '1.50',
      '1e3',
      '.inf',
      '2024-01-02',
      '2024-01-02T03:04:05Z',
      '0x1F',
      '~',
      'null',
    ),
    fc.constantFrom('"text"', "''", '12', '-7', 'true', 'False', '1_000', '0o17', '9007199254740993', '+1', '.5', '1.'),
    fc.string({ maxLength: 12 }).map(value => JSON.stringify(value)),
  )
  const name = fc.constantFrom('a', 'b', 'data', 'stringData', 'on', 'x y', '8080')
  const line = fc.tuple(name, scalar)

  test('none of them is called broken', async () => {
    const folder = new SopsFolder()
    const counts = { sound: 0, unknown: 0 }
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(line, { selector: ([key]) => key, maxLength: 4 }),
        fc.uniqueArray(line, { selector: ([key]) => key, maxLength: 4 }),
        fc.boolean(),
        async (clear, hidden, onlyEncrypted) => {
          const block = (lines: readonly (readonly [string, string])[]) =>
            lines.map(([key, value]) => `  ${JSON.stringify(key)}: ${value} # ${key}\n  # a comment\n`).join('')
          const file = `# first\nspec:\n  z: [1, two]\n${block(clear)}stringData:\n  - deep:\n      q: "1"\nother_data:\n  z: 1\n${block(hidden)}`
          folder.write(PATH, file)
          const rule = { age: age.recipient, encrypted_regex: 'ata$', mac_only_encrypted: onlyEncrypted }
          folder.write('.sops.yaml', stringify({ creation_rules: [rule] }))
          const written = await folder.run(['encrypt', PATH])
          const roots = parseDocumentsOrNothing(written)
          if (!roots) return
          const seal = await verifyMac(roots, keys())
          if (seal !== 'sound' && seal !== 'unknown') throw new Error(`broken: ${written}`)
          counts[seal as 'sound']++
        },
      ),
      { seed: 13, numRuns: 80 },
    )
    expect(counts.sound).toBeGreaterThan(20)
  })
})
