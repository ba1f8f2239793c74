import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { creationRuleFor } from '../../../src/flux/sops/creation-rule.ts'
import { updateKeys } from '../../../src/flux/sops/update-keys.ts'
import { treeOf } from '../../base/git/tree-of.ts'
import { findProgram } from '../../repository/runner/programs.ts'
import { agePair, type Pair, pgpPair, postQuantumPair, SopsFolder } from './real-sops.ts'

const SECRET =
  '# who reads this\nkind: Secret\napiVersion: v1\nmetadata: {name: a}\nstringData:\n    key: value # of what\n    "on": "yes"\n    pin: 1234\n'
const missing = findProgram('sops') ? '' : ' (no sops: .ci/run builds it)'

const configOf = (pairs: readonly Pair[]) => {
  const of = (kind: Pair['kind']) => pairs.filter(one => one.kind === kind).map(one => one.recipient)
  const fields = [
    ...(of('age').length > 0 ? [`age: ${of('age').join(',')}`] : []),
    ...(of('pgp').length > 0 ? [`pgp: ${of('pgp').join(',')}`] : []),
  ]
  return `creation_rules:\n  - encrypted_regex: ^(data|stringData)$\n    ${fields.join('\n    ')}\n`
}

const update = async (text: string, pairs: readonly Pair[], opener: Pair) =>
  updateKeys({
    ...{ path: 'a.yaml', text, now: new Date('2026-02-03T04:05:06Z') },
    rule: await creationRuleFor(treeOf({ '.sops.yaml': configOf(pairs) }), 'a.yaml'),
    identities: opener.kind === 'age' ? { age: [opener.secret] } : { age: [], pgp: [opener.secret] },
    publicKeys: pairs.flatMap(({ publicKey }) => publicKey ?? []),
  })

/** All that a file says, but how each recipient can open it. */
function meaning(text: string): unknown {
  return parseAllDocuments(text).map(document => {
    const { sops, ...rest } = document.toJS() as Record<string, Record<string, unknown>>
    const recipients = ['age', 'pgp'].flatMap(kind =>
      ((sops![kind] as Record<string, string>[] | undefined) ?? []).map(one => one.recipient ?? one.fp),
    )
    return {
      rest,
      mac: sops!.mac,
      time: sops!.lastmodified,
      regex: sops!.encrypted_regex,
      recipients: recipients.sort(),
    }
  })
}

test.skipIf(missing)(`files have other recipients as real sops updatekeys gives them${missing}`, async () => {
  const [old, next, quantum, pgp] = [await agePair(), await agePair(), await postQuantumPair(), await pgpPair()]
  const folder = new SopsFolder()
  for (const [from, to, opener] of [
    [[old], [old, next], old],
    [[old, next], [next], old],
    [[old], [quantum], old],
    [[old], [pgp, next], old],
    [[pgp], [old], pgp],
  ] as const) {
    folder.write('.sops.yaml', configOf(from))
    for (const text of [SECRET, `${SECRET}---\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: b}\ndata: {x: y}\n`]) {
      folder.write('a.yaml', text)
      const before = await folder.run(['encrypt', 'a.yaml'], [...from])
      const ours = (await update(before, to, opener))!
      // outside of the block every character stays
      expect(ours.slice(0, ours.indexOf('\nsops:'))).toBe(before.slice(0, before.indexOf('\nsops:')))
      // as the real program leaves it
      folder.write('.sops.yaml', configOf(to))
      folder.write('a.yaml', before)
      await folder.run(['updatekeys', '--yes', 'a.yaml'], [...from, ...to])
      const { readFileSync } = await import('node:fs')
      const theirs = readFileSync(`${folder.path}/a.yaml`, 'utf8')
      expect(meaning(ours)).toEqual(meaning(theirs))
      // it reads ours, finds it up to date, and we find its own so
      folder.write('a.yaml', ours)
      for (const one of to) expect(await folder.run(['decrypt', 'a.yaml'], [one])).toContain('key: value')
      await folder.run(['updatekeys', '--yes', 'a.yaml'], [...to])
      expect(readFileSync(`${folder.path}/a.yaml`, 'utf8')).toBe(ours)
      expect(await update(theirs, to, to[0]!)).toBeUndefined()
      folder.write('.sops.yaml', configOf(from))
    }
  }
})

test.skipIf(missing)(`what no key opens, and what was changed without one, is refused${missing}`, async () => {
  const [old, next] = [await agePair(), await agePair()]
  const folder = new SopsFolder()
  folder.write('.sops.yaml', configOf([old]))
  folder.write('a.yaml', SECRET)
  const before = await folder.run(['encrypt', 'a.yaml'], [old])
  await expect(update(before, [next], next)).rejects.toThrow('a.yaml: no given key opens it')
  await expect(update(before.replace('name: a', 'name: b'), [next], old)).rejects.toThrow('its MAC does not hold')
})
