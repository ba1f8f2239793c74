/** Words in a name that say that the value is a secret, wherever they stand in it. */
const SECRET = new Set(
  (
    'password passwd passphrase passcode pass pwd pw secret secrets token tokens key keys apikey accesskey secretkey ' +
    'privatekey credential credentials creds private salt pepper cookie session otp totp pin seed mnemonic signature jwt ' +
    'bearer hmac webhook webhooks htpasswd auth dockercfg dockerconfigjson kubeconfig keystore truststore license licence'
  ).split(' '),
)

/** Last words of a name that say that the value is about a secret, or none at all. */
const SETTING = new Set(
  (
    'host hostname hosts server servers port ports db dbname database schema user username login email mail ' +
    'name namespace region zone bucket image repository tag version replicas enabled disabled url uri urls endpoint ' +
    'endpoints domain path file filename dir directory folder mode type kind protocol scheme sslmode ssl tls level ' +
    'timezone tz locale lang language cluster org organization organisation project issuer audience scope scopes realm ' +
    'provider driver engine dialect size count length limit timeout interval ttl expiry lifetime algorithm format prefix ' +
    'suffix class period concurrency reconciles workers threads retries attempts rate qps burst memory cpu percent weight ' +
    'priority days hours minutes seconds environment env debug from to sender subject title comment description'
  ).split(' '),
)

/** Whose ids are names: whoever knows them may do nothing with them. */
const NAMED_BY_ID = new Set(
  'client tenant subscription account project app application object zone org organization user team cluster directory'.split(
    ' ',
  ),
)

/** What the key of a Secret says about its value. */
export function meaningOf(key: string): 'secret' | 'setting' | 'unknown' {
  const words = key
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(word => word !== '')
  const [last = '', before = ''] = [words.at(-1), words.at(-2)]
  const isSetting = SETTING.has(last) || (last === 'id' && NAMED_BY_ID.has(before))
  if (words.some(word => SECRET.has(word) || /(?:password|passwd|secret|token|apikey)$/.test(word))) {
    // the path of a key file is none; what is called webhook-url is one
    return isSetting && !words.some(word => word.startsWith('webhook')) && !ALSO_SECRET.has(last) ? 'setting' : 'secret'
  }
  return isSetting ? 'setting' : 'unknown'
}

/** After a word for secrets these say nothing: `token-value`, `secret-string`, `auth-user`. */
const ALSO_SECRET = new Set(
  'id user username login to from tag image subject title comment description class env'.split(' '),
)
