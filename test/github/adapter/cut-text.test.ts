import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutBytes, cutText } from '../../../src/github/client/octokit.ts'

test('what fits stays as it is', () => {
  expect(cutText('ü', 2, '…')).toBe('ü')
})

test('a cut text fits in bytes, has its note, and no half character', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 0, maxLength: 300 })
  fc.assert(
    fc.property(text, fc.integer({ min: 60, max: 200 }), (original, limit) => {
      const cut = cutText(original, limit, '… (cut)')
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(limit)
      expect(cut.isWellFormed()).toBe(true)
      if (cut !== original) expect(cut.endsWith('… (cut)')).toBe(true)
      expect(original.startsWith(cutBytes(original, limit))).toBe(true)
    }),
  )
})

test('an open code fence is closed before the note, so that the note is text', () => {
  const cut = cutText(`say\n\`\`\`\`yaml\n${'a: 1\n'.repeat(100)}\`\`\`\`\n`, 200, '\n\n*cut*')
  expect(cut).toMatch(/\n````\n\n\*cut\*$/)
  const closed = cutText(`\`\`\`\nx\n\`\`\`\n${'word '.repeat(100)}`, 200, '*cut*')
  expect(closed.match(/```/g)).toHaveLength(2)
})
