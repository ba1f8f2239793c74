import { dirname, resolve } from 'node:path'
import type { KmsCredentials, KmsKey } from '../kube/kms-key.ts'
import { KEY_SERVICES, type KeyService } from '../kube/sops-services.ts'
import { onlyKeys, settingsMap, settingsText, wrongSetting } from './settings-map.ts'

interface KeyForm {
  readonly key: RegExp
  readonly example: string
  /** Keys beside `provider`, `key` and `namespaces`. */
  readonly fields: readonly string[]
}

const ARN =
  /^arn:(?:aws:kms:(?!cn-)|aws-us-gov:kms:(?=us-gov-)|aws-cn:kms:(?=cn-))[a-z]{2}(?:-[a-z]{1,12}){1,3}-\d{1,2}:\d{12}:(?:key\/[A-Za-z0-9-]{1,128}|alias\/[A-Za-z0-9/_-]{1,250})$/
const ROLE = /^arn:aws(?:-cn|-us-gov)?:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

const FORMS: Readonly<Record<KeyService, KeyForm>> = {
  aws: {
    key: ARN,
    example: 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab',
    fields: ['credentialsFile', 'role', 'tokenFile'],
  },
  gcp: {
    key: /^projects\/[a-z0-9.:-]{1,100}\/locations\/[a-z0-9-]{1,63}\/keyRings\/[\w-]{1,63}\/cryptoKeys\/[\w-]{1,63}$/,
    example: 'projects/acme/locations/europe-west1/keyRings/sops/cryptoKeys/apps',
    fields: ['credentialsFile', 'metadataServer'],
  },
  vault: {
    key: /^https:\/\/[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::[1-9]\d{0,4})?\/v1\/(?:(?!\.)[\w.-]{1,100}\/){1,8}keys\/(?!\.)[\w.-]{1,100}$/,
    example: 'https://vault.example.com:8200/v1/sops/keys/apps',
    fields: ['tokenFile'],
  },
  azure: {
    key: /^https:\/\/[a-z][a-z0-9-]{1,22}[a-z0-9]\.vault\.(?:azure\.net|azure\.cn|usgovcloudapi\.net)\/keys\/[A-Za-z0-9-]{1,127}(?:\/[0-9a-f]{32})?$/,
    example: 'https://acme.vault.azure.net/keys/apps, with or without a version',
    fields: ['tenantId', 'clientId', 'clientSecretFile', 'federatedTokenFile'],
  },
}

/** Reads `kmsKeys` of one cluster in clusters.yaml. Throws `config`, naming the key, for anything that is not exact. */
export function readKmsKeys(value: unknown, at: string, file: string): KmsKey[] {
  if (!Array.isArray(value)) throw wrongSetting(file, at, 'is not a list')
  const keys = value.map((item: unknown, index) => readKey(item, `${at}[${index}]`, file))
  for (const [index, { key, service }] of keys.entries()) {
    if (keys.findIndex(other => other.key === key && other.service === service) !== index)
      throw wrongSetting(file, `${at}[${index}].key`, `${key} is listed twice`)
  }
  return keys
}

function readKey(item: unknown, at: string, file: string): KmsKey {
  const map = settingsMap(item, file, at)
  const provider = settingsText(map, 'provider', { file, at })
  const service = KEY_SERVICES.find(one => one === provider)
  if (service === undefined)
    throw wrongSetting(file, `${at}.provider`, `${provider} is not one of ${KEY_SERVICES.join(', ')}`)
  const form = FORMS[service]
  onlyKeys(map, ['provider', 'key', 'namespaces', ...form.fields], file, `${at}.`)
  const key = settingsText(map, 'key', { file, at })
  if (!form.key.test(key)) throw wrongSetting(file, `${at}.key`, `is not one exact key. Allowed: ${form.example}`)
  const namespaces: unknown = map.get('namespaces')
  if (!Array.isArray(namespaces) || namespaces.length === 0 || !namespaces.every(isNamespace))
    throw wrongSetting(file, `${at}.namespaces`, 'is not a list of names of namespaces')
  return { service, key, namespaces, credentials: readCredentials(map, service, at, file) }
}

const isNamespace = (value: unknown): value is string => typeof value === 'string' && NAMESPACE.test(value)

function readCredentials(
  map: ReadonlyMap<string, unknown>,
  service: KeyService,
  at: string,
  file: string,
): KmsCredentials {
  const path = (name: string) => resolve(dirname(file), settingsText(map, name, { file, at }))
  const text = (name: string, form: RegExp, what: string) => {
    const value = settingsText(map, name, { file, at })
    if (!form.test(value)) throw wrongSetting(file, `${at}.${name}`, `is not ${what}`)
    return value
  }
  const has = (name: string) => map.has(name)
  const one = (...names: string[]) => {
    if (names.filter(has).length !== 1) throw wrongSetting(file, at, `needs exactly one of ${names.join(' and ')}`)
  }
  switch (service) {
    case 'aws':
      one('credentialsFile', 'tokenFile')
      if (has('role') !== has('tokenFile')) throw wrongSetting(file, at, 'needs `role` and `tokenFile` together')
      if (has('credentialsFile')) return { type: 'file', file: path('credentialsFile') }
      return { type: 'web-identity', role: text('role', ROLE, 'the ARN of a role'), tokenFile: path('tokenFile') }
    case 'gcp':
      one('credentialsFile', 'metadataServer')
      if (has('credentialsFile')) return { type: 'file', file: path('credentialsFile') }
      if (map.get('metadataServer') !== true) throw wrongSetting(file, `${at}.metadataServer`, 'is not true')
      return { type: 'metadata' }
    case 'vault':
      return { type: 'file', file: path('tokenFile') }
    case 'azure':
      one('clientSecretFile', 'federatedTokenFile')
      return {
        type: 'azure',
        tenantId: text('tenantId', UUID, 'the id of a tenant'),
        clientId: text('clientId', UUID, 'the id of a client'),
        ...(has('clientSecretFile')
          ? { clientSecretFile: path('clientSecretFile') }
          : { federatedTokenFile: path('federatedTokenFile') }),
      }
  }
}
