import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isAgeForm, isPgpForm } from '../../src/rules/secrets/sops-values.ts'
import { agePair, type Pair, pgpPair, postQuantumPair, SopsFolder } from '../flux/sops/real-sops.ts'
import { sealDocument } from '../flux/sops/seal-document.ts'
import { findProgram } from '../repository/runner/programs.ts'

const PATH = 'secret.json'

async function fileOf(pair: Pair): Promise<{ folder: SopsFolder; text: string; enc: string }> {
  const folder = new SopsFolder()
  folder.write(PATH, JSON.stringify({ kind: 'Secret', data: { a: 'b' } }))
  const args = pair.kind === 'age' ? ['--age', pair.recipient] : ['--pgp', pair.recipient]
  const text = await folder.run(['encrypt', ...args, PATH], [pair])
  const { sops } = JSON.parse(text) as { sops: Record<string, { enc: string }[]> }
  return { folder, text, enc: sops[pair.kind]![0]!.enc }
}

/** Damages of one character, line or end. */
const damage = (text: string) =>
  fc.oneof(
    fc
      .tuple(fc.nat(text.length - 1), fc.constantFrom('', 'A', ' ', '\n', '=', '-', '>'))
      .map(([at, other]) => text.slice(0, at) + other + text.slice(at + 1)),
    fc.nat(text.length).map(at => text.slice(0, at)),
    fc.nat(text.length).map(at => text.slice(at)),
    fc.constantFrom(`\n ${text}`, `${text}\n\n`, text.replaceAll('\n', '\r\n'), text.trim(), text + text, `x${text}`),
  )

describe.skipIf(!findProgram('sops'))('by the real sops', () => {
  test.each([
    ['age', agePair],
    ['post-quantum age', postQuantumPair],
    ['PGP', pgpPair],
  ] as const)('what opens has the form: %s', async (_name, make) => {
    const pair = await make()
    const { folder, text, enc } = await fileOf(pair)
    const isForm = (damaged: string) =>
      pair.kind === 'pgp' ? isPgpForm(damaged) : isAgeForm(damaged, `age:${pair.recipient}`)
    expect(isForm(enc)).toBe(true)
    let refused = 0
    await fc.assert(
      fc.asyncProperty(damage(enc), async damaged => {
        if (isForm(damaged)) return
        refused += 1
        folder.write(
          PATH,
          text.replace(JSON.stringify(enc), () => JSON.stringify(damaged)),
        )
        await expect(folder.run(['decrypt', PATH], [pair])).rejects.toThrow()
      }),
      { numRuns: 40 },
    )
    expect(refused).toBeGreaterThan(5)
  })
})

test.each(['', 'garbage', 'x', '-----BEGIN AGE ENCRYPTED FILE-----\n-----END AGE ENCRYPTED FILE-----', 'ENC[x]'])(
  'no key opens %j',
  text => {
    expect(isAgeForm(text, 'age:age1x')).toBe(false)
    expect(isPgpForm(text)).toBe(false)
  },
)

test('a data key of another length, or for no X25519 recipient, does not open a file', async () => {
  const { recipient } = await agePair()
  const { sops } = (await sealDocument({}, recipient)) as { sops: { age: [{ enc: string }] } }
  const [{ enc }] = sops.age
  expect(isAgeForm(enc, `age:${recipient}`)).toBe(true)
  const lines = enc.split('\n')
  expect(isAgeForm([...lines.slice(0, -3), lines.at(-3)!.slice(4), ...lines.slice(-2)].join('\n'), 'age:x')).toBe(false)
  const other = Buffer.from(lines.slice(1, -2).join(''), 'base64').toString('latin1').replace('X25519', 'x25519')
  const armored = `${lines[0]}\n${Buffer.from(other, 'latin1').toString('base64')}\n${lines.at(-2)}`
  expect([isAgeForm(armored, `age:${recipient}`), isAgeForm(armored, 'age:ssh-ed25519 AAAA')]).toEqual([false, true])
})
