import { expect, test } from 'vitest'
import { DECISION_KINDS } from '../../src/trail/trail-entry.ts'
import { commands } from '../../workers/commands/registry.ts'
import { COMMAND_KINDS } from '../../workers/trail/record-command.ts'

/** Commands that answer, evaluate again what is there, or commit what their author could push. */
const NO_DECISION = ['help', 'status', 'explain', 'diff', 'check', 'complete', 'credentials']

test('every command is a decision that the trail records, or is known to decide nothing', () => {
  const names = commands.map(({ name }) => name)
  expect([...Object.keys(COMMAND_KINDS), ...NO_DECISION].sort()).toEqual([...names].sort())
})

test('every kind of the commands is one that a trail may have', () => {
  for (const kind of Object.values(COMMAND_KINDS)) expect(DECISION_KINDS).toContain(kind)
})
