import { expect, test } from 'vitest'
import { longIn, longSentences, textsIn } from './long-sentences.ts'

/** Files that still have longer ones, and how many. A file leaves the list when they are rewritten; none is added. */
const LEFT: Readonly<Record<string, number>> = {
  'src/rules/identity/kubeconfigs.ts': 1,
  'src/rules/kustomize/substitution.ts': 1,
  'src/rules/kustomize/unknown-values.ts': 1,
  'src/rules/policies/policy-denied.ts': 1,
  'src/rules/policies/policy-coverage.ts': 1,
}

test('no sentence of the program has more than 20 words', () => {
  const found = longSentences()
  const counts = Object.fromEntries(
    [...Map.groupBy(found, ({ file }) => file)].map(([file, all]) => [file, all.length]),
  )
  const texts = found.filter(({ file }) => counts[file] !== LEFT[file])
  expect(texts, 'split these sentences').toEqual([])
  expect(counts, 'fewer than listed: correct the list').toEqual(LEFT)
})

const words = (count: number) => Array.from({ length: count }, (_, at) => `w${at}`).join(' ')

test('a sentence of 20 words passes, one of 21 does not, wherever a text is written', () => {
  for (const write of [
    (text: string) => `yield { message: message\`\${who} ${text}.\`, fix: message\`Remove it.\` }`,
    (text: string) => `fix: 'Set it. ${text} w.',`,
    (text: string) => `throw new BailiwickError('config', 'x ${text}', {})`,
    (text: string) => `  usage: \`\${USAGE}\n\n  x ${text}\`,`,
    (text: string) => `throw usage("x ${text}")`,
  ]) {
    const long = (count: number) => [...textsIn(write(words(count)))].flatMap(text => longIn('a.ts', text))
    expect(long(19)).toEqual([])
    expect(long(20)).toMatchObject([{ words: 21 }])
  }
})

test('a value, a code span and a quoted part count as one word', () => {
  const text = `\${list(names.map(name => \`a b \${name}\`))} \\\`a b c d e\\\` "a b c d" (a b c d e) ${words(16)}`
  expect(longIn('a.ts', text)).toEqual([])
  expect(longIn('a.ts', `${text} more`)).toHaveLength(1)
})
