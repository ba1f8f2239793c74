import { expect, test } from 'vitest'
import { BailiwickError } from '../../../src/base/errors.ts'
import { message, part, plainText } from '../../../src/base/message.ts'

const name = part('repository', 'acme/fleet', 'acme/fleet#5')
const branch = part('branch', 'main', '"main"')

test('a message is one text, as it was when it was written as one', () => {
  expect(plainText(message`${name} conflicts with ${branch}, for ${3} s`)).toBe(
    'acme/fleet#5 conflicts with "main", for 3 s',
  )
  expect(plainText('as it is')).toBe('as it is')
})

test('words of ours are strings, every value keeps its type, and so do those of a message within', () => {
  const why = message`no ${branch}`
  expect(message`${name}: ${why}`).toEqual({ parts: [name, ': ', 'no ', branch] })
  expect(message``).toEqual({ parts: [] })
})

test('an error has both, or only its text', () => {
  const said = message`read ${name}`
  expect(new BailiwickError('git-missing', said)).toMatchObject({ message: 'read acme/fleet#5', typed: said })
  expect(new BailiwickError('git-missing', 'gone')).toMatchObject({ message: 'gone', typed: undefined })
})
