import { createHmac, hash } from 'node:crypto'

export interface AwsCredentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

interface AwsRequest {
  readonly method: string
  readonly host: string
  /** In lower case, without `host` and `x-amz-date`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * The headers of a request to the root of a service of AWS, signed with Signature Version 4 (AWS documentation, "Create a
 * signed AWS API request"; held to the published test suite).
 */
export function signAws(
  { method, host, headers, body }: AwsRequest,
  { accessKeyId, secretAccessKey, sessionToken }: AwsCredentials,
  place: { readonly region: string; readonly service: string; readonly now: number },
): Record<string, string> {
  const time = new Date(place.now).toISOString().replace(/[-:]|\.\d{3}/g, '')
  const all: Record<string, string> = {
    ...headers,
    host,
    'x-amz-date': time,
    ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
  }
  const names = Object.keys(all).sort()
  const lines = names.map(name => `${name}:${all[name]!.trim().replace(/ +/g, ' ')}\n`).join('')
  const request = [method, '/', '', lines, names.join(';'), hash('sha256', body)].join('\n')
  const scope = [time.slice(0, 8), place.region, place.service, 'aws4_request']
  const text = ['AWS4-HMAC-SHA256', time, scope.join('/'), hash('sha256', request)].join('\n')
  const key = scope.reduce<Buffer>((last, part) => hmac(last, part), Buffer.from(`AWS4${secretAccessKey}`))
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope.join('/')}, SignedHeaders=${names.join(';')}, Signature=${hmac(key, text).toString('hex')}`
  const { host: _host, ...sent } = all
  return { ...sent, authorization }
}

const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
