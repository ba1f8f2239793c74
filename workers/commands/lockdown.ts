import { commandError } from '../../src/command/command-error.ts'
import { codeWord, message } from '../../src/message/message.ts'
import type { BailiwickCommand } from './command-context.ts'
import { mayMaintain } from './may.ts'
import { openChange } from './open-change.ts'

const USAGE = 'lockdown CLUSTER'

/** Opens a pull request with the next flag of Flux's multi-tenancy lockdown, where nothing breaks. */
export const lockdown: BailiwickCommand = {
  name: 'lockdown',
  decision: 'lockdown',
  usage: USAGE,
  summary: "open a pull request that sets the next flag of Flux's multi-tenancy lockdown on a cluster",
  where: 'anywhere',
  slow: true,
  may: mayMaintain,
  refusal: 'The next flag cannot be set',
  run: async command => {
    const [cluster, more] = command.line.words
    if (cluster === undefined || more !== undefined) {
      throw commandError('the argument is not one cluster', message`Write: ${codeWord(`/bailiwick ${USAGE}`)}`)
    }
    const opened = await openChange(command, { kind: 'lockdown', cluster })
    return opened ? { reaction: 'rocket' } : { reaction: '+1', reply: 'All flags are set on this cluster.' }
  },
}
