<#
.SYNOPSIS
Installs wallet-sidecar for Windows from a release, or removes it.
.DESCRIPTION
Nothing is changed unless the signature and the checksum fit, and the program starts.
.PARAMETER From
The release, a folder or an https URL; without it, the folder that this script lies in.
.PARAMETER Prefix
Where to install; without it, Programs\wallet-sidecar below the user's local data.
.PARAMETER ChecksumsOnly
Do not check the signature, where no program for it is there.
.PARAMETER AllowOlder
Install a release that is older than the one that is there.
.PARAMETER Uninstall
Remove what was installed; data and settings stay.
.EXAMPLE
powershell -ExecutionPolicy Bypass -File install.ps1
#>
[CmdletBinding()]
param(
    [string]$From = $PSScriptRoot,
    [string]$Prefix = (Join-Path ([Environment]::GetFolderPath('LocalApplicationData')) 'Programs\wallet-sidecar'),
    [switch]$ChecksumsOnly,
    [switch]$AllowOlder,
    [switch]$Uninstall
)
Set-StrictMode -Version 2
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

# The key that releases are signed with. It is empty in a release that is not signed.
$publicKey = '{{public key}}'
$name = 'wallet-sidecar-windows-x64'
$archive = "$name.zip"
$Prefix = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Prefix)
$program = Join-Path $Prefix 'wallet-sidecar.exe'
# Everything that is installed.
$files = 'wallet-sidecar.exe', 'wallet-sidecar.ps1', 'LICENSE', 'THIRD_PARTY_NOTICES.txt'

function Stop-Install([string]$Sentence) {
    [Console]::Error.WriteLine($Sentence)
    exit 1
}

function Test-Running {
    $running = Get-Process -Name 'wallet-sidecar' -ErrorAction SilentlyContinue | Where-Object { $_.Path -eq $program }
    return $null -ne $running
}

if ($Uninstall) {
    if (-not (Test-Path -LiteralPath $program)) {
        Stop-Install "$program is not there: name the folder that it was installed into with -Prefix."
    }
    if (Test-Running) { Stop-Install 'The sidecar is running: stop it first.' }
    foreach ($file in $files) { Remove-Item -LiteralPath (Join-Path $Prefix $file) -Force -ErrorAction SilentlyContinue }
    Write-Output "removed $program and what was installed with it; data and settings are left as they are"
    exit 0
}
if ($publicKey.StartsWith('{')) { Stop-Install 'This is the pattern of the script: use install.ps1 of a release.' }

# A URL is https, and names no user: what stands before an @ is no part of the host.
$isUrl = $From -match '^[A-Za-z][A-Za-z0-9+.-]+://'
if ($isUrl) {
    $url = $From -as [Uri]
    $isSafe = ($null -ne $url) -and ($url.Scheme -eq 'https') -and ($url.UserInfo -eq '') -and ($From -notmatch '[@\\]')
    if (-not $isSafe) { Stop-Install "$From is not https: download the release over https." }
    # Windows PowerShell 5 offers older protocols first.
    [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
}

$work = Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid().ToString())
New-Item -ItemType Directory -Path $work | Out-Null

function Get-ReleaseFile([string]$File) {
    $to = Join-Path $work $File
    try {
        if ($isUrl) {
            Invoke-WebRequest -UseBasicParsing -Uri "$($From.TrimEnd('/'))/$File" -OutFile $to
        } else {
            Copy-Item -LiteralPath (Join-Path $From $File) -Destination $to
        }
    } catch {
        Stop-Install "$From/$File cannot be read: name the folder or URL of a release with -From."
    }
    return $to
}

function Write-Bytes([string]$File, [byte[]]$Bytes) {
    $path = Join-Path $work $File
    [IO.File]::WriteAllBytes($path, $Bytes)
    return $path
}

# Runs a program without showing what it says. True where it ends with 0.
function Test-Program([string]$Program, [string[]]$Words) {
    $before = $ErrorActionPreference
    $ErrorActionPreference = 'Continue'
    try { & $Program @Words *> $null } finally { $ErrorActionPreference = $before }
    return $LASTEXITCODE -eq 0
}

# Checks one Ed25519 signature of the public key.
function Test-Ed25519([string]$Signed, [byte[]]$Signature) {
    # 12 bytes that say "public key of Ed25519" in DER come before the key's own 32.
    [byte[]]$der = 48, 42, 48, 5, 6, 3, 43, 101, 112, 3, 33, 0
    $key = Write-Bytes 'key' ($der + [Convert]::FromBase64String($publicKey)[10..41])
    $of = Write-Bytes 'signature' $Signature
    return Test-Program 'openssl' @('pkeyutl', '-verify', '-pubin', '-keyform', 'DER', '-inkey', $key, '-rawin', '-in', $Signed, '-sigfile', $of)
}

# Checks a signature of minisign's form with OpenSSL 3: line 2 holds algorithm, id of the key and the signature of the
# BLAKE2b hash; line 4 holds the signature of that signature with the comment in line 3.
function Test-ByOpenssl([string]$Sums, [string[]]$Lines) {
    $line = [Convert]::FromBase64String($Lines[1])
    if (($line.Length -ne 74) -or ($line[0] -ne 69) -or ($line[1] -ne 68)) { return $false }
    [byte[]]$signature = $line[10..73]
    $hash = Join-Path $work 'hash'
    if (-not (Test-Program 'openssl' @('dgst', '-blake2b512', '-binary', '-out', $hash, $Sums))) { return $false }
    if (-not (Test-Ed25519 $hash $signature)) { return $false }
    $comment = [Text.Encoding]::UTF8.GetBytes(($Lines[2] -replace '^trusted comment: ', ''))
    $commented = Write-Bytes 'commented' ($signature + $comment)
    return Test-Ed25519 $commented ([Convert]::FromBase64String($Lines[3]))
}

function Assert-Signature([string]$Sums) {
    $file = Get-ReleaseFile 'SHA256SUMS.minisig'
    $lines = [IO.File]::ReadAllText($file) -split "`n"
    $fits = $false
    if (Get-Command minisign -ErrorAction SilentlyContinue) {
        $fits = Test-Program 'minisign' @('-V', '-q', '-P', $publicKey, '-m', $Sums, '-x', $file)
    } elseif ((Get-Command openssl -ErrorAction SilentlyContinue) -and ("$(& openssl version)" -match '^OpenSSL ([3-9]|\d\d)\.')) {
        try { $fits = Test-ByOpenssl $Sums $lines } catch { $fits = $false }
    } else {
        Stop-Install 'The signature cannot be checked, because neither minisign nor OpenSSL 3 is installed. Install one of them; or, if you trust the place that the release and this script came from, add -ChecksumsOnly.'
    }
    if (-not $fits) { Stop-Install 'The signature of SHA256SUMS does not fit: do not use this release, download it again.' }
    Write-Output "signed: $($lines[2] -replace '^trusted comment: ', '')"
}

# The version of a program of ours; nothing where it is none, or does not start.
function Get-ProgramVersion([string]$Program) {
    if (-not (Test-Path -LiteralPath $Program)) { return '' }
    try { $said = "$(& $Program --version)" } catch { return '' }
    if ($said -match '^(\d+\.\d+\.\d\S*)') { return $Matches[1] }
    return ''
}

# Below, at or above 0 as the first list of words comes before, with or after the second, in the order of semver.org.
function Compare-Words([string[]]$A, [string[]]$B) {
    for ($i = 0; ($i -lt $A.Length) -and ($i -lt $B.Length); $i++) {
        $isNumberA = $A[$i] -match '^\d+$'
        $isNumberB = $B[$i] -match '^\d+$'
        if ($isNumberA -and $isNumberB) { $order = [Math]::Sign([long]$A[$i] - [long]$B[$i]) }
        elseif ($isNumberA) { $order = -1 }
        elseif ($isNumberB) { $order = 1 }
        else { $order = [string]::CompareOrdinal($A[$i], $B[$i]) }
        if ($order -ne 0) { return $order }
    }
    return $A.Length - $B.Length
}

function Test-Before([string]$A, [string]$B) {
    $coreA, $restA = ($A -replace '\+.*', '') -split '-', 2
    $coreB, $restB = ($B -replace '\+.*', '') -split '-', 2
    $order = Compare-Words ($coreA -split '\.') ($coreB -split '\.')
    if ($order -ne 0) { return $order -lt 0 }
    if (-not $restA) { return $false }
    if (-not $restB) { return $true }
    return (Compare-Words ($restA -split '\.') ($restB -split '\.')) -lt 0
}

try {
    $sums = Get-ReleaseFile 'SHA256SUMS'
    if ($publicKey -eq '') {
        [Console]::Error.WriteLine('This release is not signed: use it only if you built it yourself.')
    } elseif ($ChecksumsOnly) {
        [Console]::Error.WriteLine('The signature was not checked: the checksums prove only that the download is whole.')
    } else {
        Assert-Signature $sums
    }
    $packed = Get-ReleaseFile $archive
    $wanted = [IO.File]::ReadAllLines($sums) | Where-Object { $_.EndsWith("  $archive") } | ForEach-Object { $_.Substring(0, 64) }
    $actual = (Get-FileHash -Algorithm SHA256 -LiteralPath $packed).Hash
    if ((-not $wanted) -or ($wanted -ne $actual)) {
        Stop-Install "$archive does not match SHA256SUMS: do not use it, download it again."
    }
    try { Expand-Archive -LiteralPath $packed -DestinationPath $work } catch { Stop-Install "$archive cannot be unpacked: download it again." }
    $unpacked = Join-Path $work $name
    $new = Join-Path $unpacked 'wallet-sidecar.exe'
    $offered = Get-ProgramVersion $new
    if ($offered -eq '') { Stop-Install 'The program does not start on this machine: nothing was installed.' }
    $present = Get-ProgramVersion $program
    # Somebody who serves an old release, with its true signature, brings back the faults that newer ones have mended.
    if (($present -ne '') -and (-not $AllowOlder) -and (Test-Before $offered $present)) {
        Stop-Install "This release is $offered, and $present is installed: nothing was changed. If you want the older one, restore its backup too, and add -AllowOlder."
    }
    if (Test-Running) { Stop-Install 'The sidecar is running: stop it first. Nothing was changed.' }
    New-Item -ItemType Directory -Force -Path $Prefix | Out-Null
    foreach ($file in 'LICENSE', 'THIRD_PARTY_NOTICES.txt', 'completions\wallet-sidecar.ps1') {
        Copy-Item -LiteralPath (Join-Path $unpacked $file) -Destination $Prefix -Force
    }
    # On one disk the file is replaced in one step.
    $beside = "$program.new"
    Copy-Item -LiteralPath $new -Destination $beside -Force
    Move-Item -LiteralPath $beside -Destination $program -Force
    Write-Output "installed $program $(& $program --version)"
    if (($env:PATH -split [IO.Path]::PathSeparator) -notcontains $Prefix) {
        Write-Output "$Prefix is not in PATH: add it, or call $program"
    }
} finally {
    Remove-Item -LiteralPath $work -Recurse -Force -ErrorAction SilentlyContinue
}
