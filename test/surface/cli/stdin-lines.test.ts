import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { main } from '../../../src/surface/cli/main.ts'
import { run, scratch, write } from './run-main.ts'

const FILES = {
  'kustomization.yaml': 'resources: [a.yaml]\n',
  'a.yaml':
    'apiVersion: example.org/v1\nkind: A\nmetadata:\n  name: a\nspec:\n  big: 18446744073709551615\n  small: -9007199254740993\n  safe: 7\n  text: "18446744073709551615"\n  half: 0.5\n',
}
const EXACT = '{"big":18446744073709551615,"small":-9007199254740993,"safe":7,"text":"18446744073709551615","half":0.5}'

test('integers come out as they went in, in every form of output', async () => {
  const folder = write(scratch(), FILES)
  const json = await run(folder, 'render', '.', '-o', 'json')
  expect(json.stdout.replace(/\s/g, '')).toContain(`"spec":${EXACT}`)
  const yaml = await run(folder, 'render', '.')
  expect(yaml.stdout).toMatch(/big: 18446744073709551615\n {2}small: -9007199254740993\n {2}safe: 7\n {2}text: "1844/)
})

/** Answers of `render --stdin` to a text that arrives in pieces of `size` bytes. */
async function answers(text: string, size: number): Promise<string[]> {
  const bytes = Buffer.from(text)
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  )
  let out = ''
  const io = {
    stdout: (part: string) => {
      out += part
    },
    stderr: () => undefined,
    stdin: Readable.from(pieces),
    cwd: '/',
  }
  expect(await main(['render', '--stdin'], io)).toBe(0)
  return out.trimEnd().split('\n')
}

test('requests are told apart by line feeds alone, however their bytes arrive', async () => {
  const folder = write(scratch(), FILES)
  const build = JSON.stringify({ build: folder, root: folder, note: 'é\u2028\u2029\u0085\r😀' })
  const text = `${build}\r\n\n${'['.repeat(200_000)}\n  \n${build}`
  for (const size of [7, 4096, 1_000_000]) {
    const [first, deep, last, ...more] = await answers(text, size)
    expect(first).toContain(`"spec":${EXACT}`)
    expect(deep).toMatch(/^\{"error":"usage: /)
    expect([last, more]).toEqual([first, []])
  }
})
