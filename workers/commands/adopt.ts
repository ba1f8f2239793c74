import { commandError } from '../../src/command/command-error.ts'
import { codeWord, message } from '../../src/message/message.ts'
import type { BailiwickCommand } from './command-context.ts'
import { mayMaintain } from './may.ts'
import { openChange } from './open-change.ts'

const USAGE = 'adopt TENANT [--kustomization NAMESPACE/NAME] [--service-account NAME]'
const NAME = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/
const PAIR = /^[a-z0-9.-]{1,253}\/[a-z0-9.-]{1,253}$/

/** Opens a pull request that moves Kustomizations from cluster-admin to an account with the least rights. */
export const adopt: BailiwickCommand = {
  name: 'adopt',
  decision: 'adoption',
  usage: USAGE,
  summary: 'open a pull request that moves Kustomizations from cluster-admin to an account with the least rights',
  where: 'anywhere',
  slow: true,
  may: mayMaintain,
  refusal: 'This cannot be moved to an account of its own',
  run: async command => {
    const [name, ...words] = command.line.words
    if (name === undefined || !NAME.test(name)) throw unreadable('TENANT is missing or is not a name')
    const kustomizations: string[] = []
    let account: string | undefined
    for (let index = 0; index < words.length; index += 2) {
      const [option, value = ''] = words.slice(index, index + 2)
      if (option === '--kustomization' && PAIR.test(value)) kustomizations.push(value)
      else if (option === '--service-account' && NAME.test(value) && account === undefined) account = value
      else throw unreadable('an option is not known, or its value is not a name')
    }
    const request = { name, kustomizations, ...(account === undefined ? {} : { account }) }
    await openChange(command, { kind: 'adopt', request })
    return { reaction: 'rocket' }
  },
}

function unreadable(what: string) {
  return commandError(what, message`Write: ${codeWord(`/bailiwick ${USAGE}`)}`)
}
