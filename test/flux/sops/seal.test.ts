import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { creationRuleFor } from '../../../src/flux/sops/creation-rule.ts'
import { type Identities, verifyMac } from '../../../src/flux/sops/decrypt-object.ts'
import { sealSecret } from '../../../src/flux/sops/seal-document.ts'
import { parseDocuments } from '../../../src/kube/yaml/parse-documents.ts'
import { treeOf } from '../../base/git/tree-of.ts'
import { findProgram } from '../../repository/runner/programs.ts'
import { openDocument } from './open-document.ts'
import { agePair, type Pair, pgpPair, postQuantumPair, SopsFolder } from './real-sops.ts'

const PATH = 'tenants/base/ops/auth.yaml'
const REGEX = 'encrypted_regex: ^(data|stringData)$'
const IDENTITY = '-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----\n'
const SECRET = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'ops-auth', namespace: 'y', labels: { 'toolkit.fluxcd.io/tenant': 'on' } },
  stringData: { identity: Buffer.from(IDENTITY), 'identity.pub': 'ssh-ed25519 AAAA\n', known_hosts: 'a\nb', none: '' },
}
const PLAIN = { ...SECRET, stringData: { ...SECRET.stringData, identity: IDENTITY } }

let [age, other, hybrid, pgp, rsa] = [] as unknown as [Pair, Pair, Pair, Pair, Pair]
beforeAll(async () => {
  ;[age, other, hybrid, pgp, rsa] = await Promise.all([
    agePair(),
    agePair(),
    postQuantumPair(),
    pgpPair(),
    pgpPair('rsa'),
  ])
})

const sealed = async (config: string, keys: readonly Pair[] = [], path = PATH) =>
  sealSecret(SECRET, await creationRuleFor(treeOf({ '.sops.yaml': config }), path), {
    now: new Date('2026-01-02T03:04:05.678Z'),
    random: randomBytes,
    publicKeys: keys.flatMap(({ publicKey }) => (publicKey === undefined ? [] : [publicKey])),
  })
const identities = (...keys: readonly Pair[]): Identities => ({
  age: keys.flatMap(({ kind, secret }) => (kind === 'age' ? [secret] : [])),
  pgp: keys.flatMap(({ kind, secret }) => (kind === 'pgp' ? [secret] : [])),
})
const rootsOf = (text: string) => parseDocuments({ repository: '', path: PATH }, Buffer.from(text))
/** What our reader makes of a file, and what it says of its MAC. */
async function read(text: string, keys: Identities) {
  const [root] = rootsOf(text)
  if (root?.type !== 'map') throw new Error('no map')
  return { seal: await verifyMac([root], keys), object: await openDocument(root, keys) }
}
const ruleFor = (fields: string) => `creation_rules:\n  - ${fields.replaceAll('\n', '\n    ')}\n`

/** Each kind of recipient that needs no cloud, and ways of writing them. */
const KINDS: readonly (readonly [string, () => string, () => readonly Pair[]])[] = [
  ['age', () => `age: ${age.recipient}\n${REGEX}`, () => [age]],
  ['several, with spaces', () => `age: >-\n  ${age.recipient},\n  ${other.recipient}\n${REGEX}`, () => [age, other]],
  ['a list', () => `age: [${age.recipient}, ${hybrid.recipient}]\n${REGEX}`, () => [age, hybrid]],
  ['post-quantum age', () => `age: ${hybrid.recipient}\n${REGEX}`, () => [hybrid]],
  ['PGP', () => `pgp: ${pgp.recipient}\n${REGEX}`, () => [pgp]],
  ['PGP with RSA', () => `pgp: ${rsa.recipient}\n${REGEX}`, () => [rsa]],
  [
    'one group of all',
    () =>
      `key_groups:\n  - merge:\n      - pgp: [${pgp.recipient}]\n    age: [${age.recipient}, ${hybrid.recipient}]\n${REGEX}`,
    () => [pgp, age, hybrid],
  ],
  ['a MAC over encrypted values', () => `age: ${age.recipient}\nmac_only_encrypted: true\n${REGEX}`, () => [age]],
  ['a suffix', () => `age: ${age.recipient}\nencrypted_suffix: Data`, () => [age]],
  ['what stays in clear', () => `age: ${age.recipient}\nunencrypted_regex: ^(apiVersion|kind|metadata)$`, () => [age]],
]

describe('a sealed file', () => {
  test.each(KINDS)('for %s is opened by each of its keys, and by no other', async (_name, fields, keys) => {
    const text = await sealed(ruleFor(fields()), keys())
    expect(text).not.toContain('OPENSSH')
    for (const key of keys()) {
      const { seal, object } = await read(text, identities(key))
      expect(seal).toBe('sound')
      expect(object).toEqual(PLAIN)
    }
    await expect(read(text, identities(await agePair()))).rejects.toMatchObject({ code: 'cluster-invalid' })
  })

  test('has another key and other nonces each time', async () => {
    const config = ruleFor(`age: ${age.recipient}\n${REGEX}`)
    const parts = (text: string) => [...text.matchAll(/iv:([^,]+)/g)].map(match => match[1])
    const [first, second] = [parts(await sealed(config)), parts(await sealed(config))]
    expect(new Set([...first, ...second]).size).toBe(8)
  })
})

describe('a rule', () => {
  const select = (text: string) => creationRuleFor(treeOf({ '.sops.yaml': text }), PATH)

  test('the first that matches, of the nearest file', async () => {
    const tree = treeOf({
      '.sops.yaml': `creation_rules:\n  - age: ${other.recipient}\n`,
      'tenants/.sops.yaml': [
        'creation_rules:',
        `  - path_regex: ^tenants/\n    age: ${other.recipient}`,
        `  - path_regex: ^base/.*\\.yaml$\n    age: ${age.recipient}`,
        `  - age: ${other.recipient}\n`,
      ].join('\n'),
    })
    const rule = await creationRuleFor(tree, PATH)
    expect(rule.recipients.map(({ text }) => text)).toEqual([age.recipient])
    expect(rule.origin).toMatchObject({ file: 'tenants/.sops.yaml', line: 4 })
  })

  test('a key that is named twice, and one through an anchor', async () => {
    const rule = await select(
      `keys:\n  - &fleet ${age.recipient}\ncreation_rules:\n  - age: [*fleet, *fleet]\n    ${REGEX}\n`,
    )
    expect(rule.recipients.map(({ text }) => text)).toEqual([age.recipient])
  })

  test.each<[string, () => string, number, string, string]>([
    ['no rules', () => 'creation_rules:\n', 1, 'creation_rules: is not a list', 'Add a rule'],
    ['no match', () => `creation_rules:\n  - path_regex: ^x/\n    age: a\n`, 2, 'no rule matches', 'Add a rule'],
    ['a bad pattern', () => ruleFor('path_regex: "["\nage: a'), 2, 'regular expression "["', 'RE2'],
    ['a look-ahead', () => ruleFor('path_regex: a(?=b)\nage: a'), 2, 'regular expression', 'RE2'],
    ['no recipient', () => ruleFor(REGEX), 2, 'names no recipient', 'Add `age'],
    ['an empty one', () => ruleFor(`age: " , "`), 2, 'names no recipient', 'Add `age'],
    [
      'AWS',
      () => ruleFor(`kms: arn:aws:kms:x\nage: ${age.recipient}`),
      2,
      'kms: AWS KMS',
      `sops encrypt --in-place ${PATH}`,
    ],
    ['GCP', () => ruleFor(`age: ${age.recipient}\ngcp_kms: projects/x`), 3, 'gcp_kms: GCP KMS', 'sops encrypt'],
    ['Azure', () => ruleFor('azure_keyvault: https://x'), 2, 'Azure Key Vault', 'sops encrypt'],
    ['Vault', () => ruleFor('hc_vault_transit_uri: https://x'), 2, 'HashiCorp Vault', 'sops encrypt'],
    ['Huawei', () => ruleFor('hckms: [a:b]'), 2, 'Huawei Cloud KMS', 'sops encrypt'],
    ['KMS in a group', () => ruleFor('key_groups:\n  - kms:\n      - arn: x'), 4, 'kms: AWS KMS', 'sops encrypt'],
    [
      'Vault in a merged group',
      () => ruleFor('key_groups:\n  - merge:\n      - hc_vault: [x]'),
      4,
      'HashiCorp',
      'sops',
    ],
    ['two groups', () => ruleFor(`key_groups:\n  - age: [a]\n  - age: [b]`), 3, 'split among 2 groups', 'sops encrypt'],
    ['an SSH key', () => ruleFor('age: ssh-ed25519 AAAA'), 2, 'is an SSH key', 'sops encrypt'],
    ['a plugin', () => ruleFor('age: age1yubikey1qwerty'), 2, 'recipient of an age plugin', 'sops encrypt'],
    [
      'a bad checksum',
      () => ruleFor(`age: ${age.recipient.slice(0, -1)}${age.recipient.endsWith('x') ? 'q' : 'x'}`),
      2,
      'is not a valid recipient',
      'age-keygen',
    ],
    ['not a key', () => ruleFor('age: me@example.com'), 2, 'is not a valid recipient', 'age-keygen'],
    ['a number', () => ruleFor('age: 1'), 2, 'age: is neither text', 'Write'],
    ['a key id', () => ruleFor('pgp: 4567BF4054E4FADB'), 2, 'is not a fingerprint', '40 hex digits'],
    [
      'two selections',
      () => ruleFor(`age: ${age.recipient}\n${REGEX}\nencrypted_suffix: x`),
      4,
      'SOPS allows one',
      'Keep',
    ],
    [
      'a flag',
      () => ruleFor(`age: ${age.recipient}\nmac_only_encrypted: perhaps`),
      3,
      'neither true nor false',
      'Write',
    ],
    ['no YAML', () => 'creation_rules: [', 1, '.sops.yaml: ', ''],
  ])('is refused with its line: %s', async (_name, config, line, what, fix) => {
    const error = await select(config()).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).toMatchObject({ code: 'sops-config', origin: { file: '.sops.yaml', line } })
    expect((error as Error).message).toContain(what)
    expect((error as { fix?: string }).fix).toContain(fix)
  })

  test('a private key is refused, and not repeated', async () => {
    const error = await select(ruleFor(`age: ${age.secret}`)).catch((thrown: Error) => thrown)
    expect(error).toMatchObject({ code: 'sops-config', message: 'age: a private key is not a recipient' })
    expect(JSON.stringify(error)).not.toContain(age.secret.slice(0, 24))
  })

  test('no file, and one that SOPS does not look for', async () => {
    await expect(creationRuleFor(treeOf({ a: '' }), PATH)).rejects.toMatchObject({ code: 'sops-config' })
    await expect(creationRuleFor(treeOf({ '.sops.yml': 'creation_rules: []' }), PATH)).rejects.toMatchObject({
      fix: 'Rename it to .sops.yaml: SOPS ignores .sops.yml.',
    })
  })

  test.each<[string, string, string]>([
    ['no selection', '', 'apiVersion: the creation rule encrypts it'],
    [
      'a selection of nothing',
      '\nencrypted_regex: ^secret$',
      'stringData.identity: encrypted_regex leaves it as plain text',
    ],
    ['a part', '\nencrypted_regex: ^identity$', 'stringData.identity.pub: encrypted_regex leaves it as plain text'],
    ['metadata too', '\nencrypted_regex: ^(metadata|data|stringData)$', 'metadata.name: encrypted_regex encrypts it'],
    ['all but the kind', '\nunencrypted_suffix: kind', 'apiVersion: unencrypted_suffix encrypts it'],
    [
      'by comments',
      '\nencrypted_comment_regex: x',
      'stringData.identity: encrypted_comment_regex leaves it as plain text',
    ],
    ['not by comments', '\nunencrypted_comment_regex: x', 'apiVersion: unencrypted_comment_regex encrypts it'],
  ])('that does not encrypt exactly the values is refused: %s', async (_name, selection, what) => {
    await expect(sealed(ruleFor(`age: ${age.recipient}${selection}`))).rejects.toMatchObject({
      code: 'sops-config',
      message: expect.stringContaining(what),
      fix: expect.stringContaining(REGEX),
      origin: { file: '.sops.yaml', line: selection === '' ? 2 : 3 },
    })
  })

  test('a PGP key that the fleet does not contain, and one that has expired', async () => {
    const config = ruleFor(`pgp: ${pgp.recipient}\n${REGEX}`)
    await expect(sealed(config, [rsa, age])).rejects.toMatchObject({
      code: 'sops-config',
      fix: expect.stringContaining(`gpg --export --armor ${pgp.recipient}`),
      origin: { file: '.sops.yaml', line: 2 },
    })
    const { generateKey, readKey } = await import('openpgp')
    const old = await generateKey({
      userIDs: [{ name: 'old' }],
      date: new Date('2020-01-01'),
      keyExpirationTime: 60,
    })
    const recipient = (await readKey({ armoredKey: old.publicKey })).getFingerprint()
    const expired: Pair = { kind: 'pgp', recipient, secret: '', publicKey: old.publicKey }
    await expect(sealed(ruleFor(`pgp: ${recipient}\n${REGEX}`), [expired])).rejects.toMatchObject({
      code: 'sops-config',
      message: expect.stringContaining('cannot encrypt'),
    })
  })
})

describe.skipIf(!findProgram('sops'))('the real sops', () => {
  test.each(KINDS)('opens what we sealed for %s', async (_name, fields, keys) => {
    const folder = new SopsFolder()
    folder.write(PATH, await sealed(ruleFor(fields()), keys()))
    for (const key of keys()) {
      expect(parse(await folder.run(['decrypt', PATH], [key]), { version: '1.1' })).toEqual(PLAIN)
    }
    await expect(folder.run(['decrypt', PATH], [await agePair()])).rejects.toThrow('Failed to get the data key')
  })

  test.each(KINDS)('writes for %s what our reader opens, in the form of ours', async (_name, fields, keys) => {
    const folder = new SopsFolder()
    const config = ruleFor(fields())
    folder.write('.sops.yaml', config)
    folder.write(PATH, JSON.stringify(PLAIN))
    const theirs = await folder.run(['encrypt', PATH], keys())
    for (const key of keys()) {
      const { seal, object } = await read(theirs, identities(key))
      expect(seal).toBe('sound')
      expect(object).toEqual(PLAIN)
    }
    expect(form(await sealed(config, keys()))).toEqual(form(theirs))
  })

  test('finds what was changed in a file that we sealed', async () => {
    const folder = new SopsFolder()
    const text = await sealed(ruleFor(`age: ${age.recipient}\n${REGEX}`))
    folder.write(PATH, text.replace('name: ops-auth', 'name: other'))
    await expect(folder.run(['decrypt', PATH], [age])).rejects.toThrow('MAC mismatch')
    expect((await read(text.replace('name: ops-auth', 'name: other'), identities(age))).seal).toBe('changed')
  })

  test('updates the keys of a file that we sealed, by a rule that has others', async () => {
    const folder = new SopsFolder()
    folder.write(PATH, await sealed(ruleFor(`age: ${age.recipient}\n${REGEX}`)))
    folder.write('.sops.yaml', ruleFor(`age: ${other.recipient}, ${hybrid.recipient}\npgp: ${pgp.recipient}\n${REGEX}`))
    const publicOnly = [age, pgp]
    await folder.run(['updatekeys', '--yes', PATH], publicOnly)
    const text = execFileSync('cat', [join(folder.path, PATH)], { encoding: 'utf8' })
    for (const key of [other, hybrid, pgp]) {
      const { seal, object } = await read(text, identities(key))
      expect([seal, object]).toEqual(['sound', PLAIN])
    }
    await expect(read(text, identities(age))).rejects.toMatchObject({ code: 'cluster-invalid' })
  })

  test('chooses the rule that we choose, and its recipients', async () => {
    const patterns = ['^tenants/', '\\.yaml$', 'auth', '^base/', '(?i)OPS', 'x', '^$', '[[:alpha:]]+/base', '\\.ya?ml$']
    const rule = fc.record({
      pattern: fc.option(fc.constantFrom(...patterns), { nil: undefined }),
      key: fc.constantFrom(0, 1, 2),
      form: fc.constantFrom('text', 'list', 'group'),
    })
    const keys = [age.recipient, other.recipient, hybrid.recipient]
    const folder = new SopsFolder()
    folder.write(PATH, JSON.stringify(PLAIN))
    await fc.assert(
      fc.asyncProperty(fc.array(rule, { minLength: 1, maxLength: 4 }), async rules => {
        const list = rules.map(({ pattern, key, form: how }) => ({
          ...(pattern === undefined ? {} : { path_regex: pattern }),
          encrypted_regex: '^(data|stringData)$',
          ...(how === 'group'
            ? { key_groups: [{ age: [keys[key]] }] }
            : { age: how === 'list' ? [keys[key]] : ` ${keys[key]} ,` }),
        }))
        const config = JSON.stringify({ creation_rules: list })
        folder.write('.sops.yaml', config)
        const theirs = await folder.run(['encrypt', PATH]).then(
          text => recipientsIn(text),
          () => 'refused',
        )
        const ours = await creationRuleFor(treeOf({ '.sops.yaml': config }), PATH).then(
          ({ recipients }) => recipients.map(({ text }) => text),
          () => 'refused',
        )
        expect(ours).toEqual(theirs)
      }),
      { seed: 7, numRuns: 40 },
    )
  })
})

test.skipIf(!findProgram('age'))('the real age opens the data key', async () => {
  const folder = new SopsFolder()
  for (const key of [age, hybrid]) {
    const text = await sealed(ruleFor(`age: ${key.recipient}\n${REGEX}`))
    writeFileSync(join(folder.path, 'key'), `${key.secret}\n`)
    const { sops } = parse(text) as { sops: { age: [{ enc: string }] } }
    const opened = execFileSync(findProgram('age')!, ['--decrypt', '--identity', join(folder.path, 'key')], {
      input: sops.age[0].enc,
    })
    expect(opened).toHaveLength(32)
  }
})

const recipientsIn = (text: string) =>
  (parse(text) as { sops: { age?: { recipient: string }[] } }).sops.age?.map(({ recipient }) => recipient)

/** A sealed file without what differs each time. */
function form(text: string): unknown {
  const clean = (value: unknown, name = ''): unknown => {
    if (Array.isArray(value)) return value.map(item => clean(item))
    if (value !== null && typeof value === 'object') {
      return Object.entries(value).map(([key, inner]) => [key, clean(inner, key)])
    }
    if (name === 'enc') return String(value).split('\n', 1)[0]
    if (name === 'lastmodified' || name === 'created_at') return String(value).replaceAll(/\d/g, '0')
    return String(value).replace(/^ENC\[AES256_GCM,.*,type:(\w+)\]$/, 'sealed $1')
  }
  return clean(parse(text, { version: '1.1' }))
}
