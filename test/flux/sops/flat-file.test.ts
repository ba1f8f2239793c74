import { expect, test } from 'vitest'
import { verifyMac } from '../../../src/flux/sops/decrypt-object.ts'
import { readFlatFile } from '../../../src/flux/sops/encrypted-values.ts'
import { recipientsOf } from '../../../src/rules/secrets/sops-files.ts'
import { isSopsFile } from '../../../src/rules/secrets/sops-values.ts'
import { agePair, SopsFolder } from './real-sops.ts'

test.each([
  ['a.env', '# who\nUSER=git\nEMPTY=\nLINES=a\\nb\n', 'USER='],
  ['a.ini', '; top\nglobal = 1\n\n[db]\n# who\nuser = git\nempty =\n\n[0]\n1 = x\n', 'user ='],
])('%s of the real sops: its recipients, its MAC, and what is changed', async (file, plain, name) => {
  const [folder, pair] = [new SopsFolder(), await agePair()]
  folder.write(file, plain)
  const text = await folder.run(['--config', '/dev/null', 'encrypt', '--age', pair.recipient, file], [pair])
  const read = (changed: string) => readFlatFile({ repository: '', file }, changed)!
  const seal = (changed: string) => verifyMac([read(changed)], { age: [pair.secret] })
  const values = new RegExp(`^${name.replace(' ', ' *')}.*$`, 'm')

  expect([...recipientsOf(read(text).fields.get('sops')?.value).keys()]).toEqual([`age:${pair.recipient}`])
  expect(isSopsFile(Buffer.from(text))).toBe(true)
  expect(await seal(text)).toBe('sound')

  const open = text.replace(values, `${name} other`)
  expect(isSopsFile(Buffer.from(open))).toBe(false)
  expect(await seal(open)).toBe('changed')
  expect(await seal(text.replace(values, line => line.replace('data:', 'data:AAAA')))).toBe('corrupt')
  expect(isSopsFile(Buffer.from(`${text}${file === 'a.ini' ? '; other' : '# other'}\n`))).toBe(false)
})

test('what SOPS did not write is no encrypted file', () => {
  const file = { repository: '', file: 'a.env' }
  expect(readFlatFile(file, 'A=b\nsops_age__list_0__map_enc=x\n')).toBeUndefined()
  expect(readFlatFile(file, `sops_${'a__map_'.repeat(100_000)}=x\nsops_mac=x\n`)).toBeDefined()
})
