import type { BailiwickError } from '../errors.ts'
import { readFleetText } from '../fleet/config/read-fleet-file.ts'
import { type Enforcement, FLEET_FILE, type FleetConfig } from '../fleet/model/fleet-config.ts'
import { commandError } from './command-error.ts'

/** The key at the edge of the file: nothing that belongs to another value can stand there. */
const KEY = /^(["']?)enforcement\1[ \t]*:.*$/m
const LINE = /^((["']?)enforcement\2[ \t]*:[ \t]*)(["']?)(?:report|block)\3((?:[ \t]+#.*|[ \t]*)\r?)$/m

/**
 * Sets the enforcement in the fleet's file; all other text stays, comments included. `text` is undefined if there is no
 * file. Throws `command-input` if the value is already set, or if the file cannot be read or edited line by line.
 */
export function withEnforcement(text: string | undefined, wanted: Enforcement): string {
  const before = text ?? ''
  const known = readFleetText(before)
  if (known.error) throw unfit(`cannot be read: ${known.error.message}`)
  if (known.enforcement === wanted)
    throw commandError(`the fleet already has \`enforcement: ${wanted}\``, 'No change is needed.')
  const edited = KEY.test(before) ? before.replace(LINE, `$1${wanted}$4`) : `${ended(before)}enforcement: ${wanted}\n`
  const after = readFleetText(edited)
  if (after.error || after.enforcement !== wanted || rest(after) !== rest(known)) {
    throw unfit('is written in a way that cannot be changed line by line')
  }
  return edited
}

const ended = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}\n`)

/** All that the file says besides. */
function rest(config: FleetConfig): string {
  const fields = Object.entries({ ...config, enforcement: '' }).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify(fields, (_, value: unknown) => (value instanceof Map ? [...value] : value))
}

function unfit(why: string): BailiwickError {
  return commandError(
    `${FLEET_FILE} ${why}`,
    `Write \`enforcement: report\` or \`enforcement: block\` into it yourself.`,
  )
}
