import { BailiwickError } from '../errors.ts'
import { type Node, stringAt } from '../kube/node.ts'
import { refuseUnknownKeys } from '../kube/refuse-unknown-keys.ts'
import { parseDocuments } from '../kube/yaml/parse-documents.ts'
import { FLEET_NAME, type FleetName, parseFleetName } from './fleet-name.ts'

/** The repository and file in which an organization designates its fleets. */
export const ORGANIZATION_REPOSITORY = '.github'
export const DESIGNATION_FILE = 'bailiwick.yaml'

const MAX_FLEETS = 50

/** Reads the fleets under `fleets`. Throws for invalid YAML and for any other key. */
export function readDesignationFile(repository: string, bytes: Uint8Array): FleetName[] {
  const [root, second] = parseDocuments({ repository, path: DESIGNATION_FILE }, bytes)
  if (!root || second) throw wrong('the file', root ? 'has more than one document' : 'is empty')
  if (root.type !== 'map') throw wrong('the file', 'is not a map')
  refuseUnknownKeys(root, '', ['fleets'])
  const list = root.fields.get('fleets')?.value
  if (list?.type !== 'list' || list.items.length === 0) throw wrong('fleets', 'is not a list of repositories')
  if (list.items.length > MAX_FLEETS) throw wrong('fleets', `lists more than ${MAX_FLEETS} repositories`)
  return list.items.map((item, index) => readItem(item, `fleets[${index}]`))
}

function readItem(item: Node, key: string): FleetName {
  const isText = item.type === 'scalar' && typeof item.value === 'string'
  if (!isText && item.type !== 'map') throw wrong(key, 'is not a repository')
  refuseUnknownKeys(item, key, ['repository', 'branch'])
  const branch = stringAt(item, ['branch'])
  if (item.type === 'map' && item.fields.has('branch') && branch === undefined)
    throw wrong(`${key}.branch`, 'is not text')
  const name = isText ? String(item.value) : (stringAt(item, ['repository']) ?? '')
  const read = parseFleetName(branch === undefined ? name : `${name}#${branch}`)
  if (!read) throw wrong(key, 'is not the name of a repository')
  return read
}

function wrong(key: string, what: string): BailiwickError {
  const allowed = `Allowed: fleets, a list of ${FLEET_NAME}.`
  return new BailiwickError('config', `${DESIGNATION_FILE} of ${ORGANIZATION_REPOSITORY}: ${key} ${what}. ${allowed}`, {
    fix: `Correct ${DESIGNATION_FILE} in the repository ${ORGANIZATION_REPOSITORY}.`,
  })
}
