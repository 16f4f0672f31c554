# Waits for the webhook of one payment and prints its body, once the signature is verified (Standard Webhooks).
# usage: receive-webhook.pl INDEX   with WEBHOOK_SECRET, and WEBHOOK_PORT in place of 8080
use strict;
use warnings;
use Digest::SHA qw(hmac_sha256);
use IO::Socket::INET;
use MIME::Base64 qw(decode_base64 encode_base64);

my ($index) = @ARGV;
my $key = decode_base64($ENV{WEBHOOK_SECRET} =~ s/^whsec_//r);
my $port = $ENV{WEBHOOK_PORT} // 8080;
my $server = IO::Socket::INET->new(
    LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 16, ReuseAddr => 1,
) or die "Nobody can listen on port $port: choose another with WEBHOOK_PORT.\n";
$| = 1;
print "listening on port $port\n";
alarm 60;

while (my $client = $server->accept) {
    my ($headers, $body) = read_request($client);
    my $good = verified($headers, $body);
    # Webhooks of other payments are answered too, or they would be sent again.
    print $client $good ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 400 Bad Request\r\n";
    print $client "content-length: 0\r\nconnection: close\r\n\r\n";
    close $client;
    if ($good && $body =~ /"index":"\Q$index\E"/) { print "$body\n"; exit 0 }
}

sub read_request {
    my ($client) = @_;
    my %headers;
    while (defined(my $line = <$client>)) {
        last if $line =~ /^\r?\n$/;
        $headers{lc $1} = $2 if $line =~ /^([\w-]+):\s*(.*?)\r?\n$/;
    }
    my $length = $headers{'content-length'} // 0;
    my $body = '';
    read($client, $body, $length) if $length <= 262144;
    return (\%headers, $body);
}

sub verified {
    my ($headers, $body) = @_;
    my $id = $headers->{'webhook-id'} // return 0;
    my $timestamp = $headers->{'webhook-timestamp'} // return 0;
    # An old webhook that somebody has seen and sends again is refused.
    return 0 if $timestamp !~ /^\d+$/ || abs(time - $timestamp) > 300;
    my $expected = 'v1,' . encode_base64(hmac_sha256("$id.$timestamp.$body", $key), '');
    return grep { same($_, $expected) } split / /, $headers->{'webhook-signature'} // '';
}

# Takes as long whatever differs, so that nobody can guess a signature byte by byte.
sub same {
    my ($given, $expected) = @_;
    return 0 if length $given != length $expected;
    my $difference = 0;
    $difference |= ord(substr $given, $_, 1) ^ ord(substr $expected, $_, 1) for 0 .. length($given) - 1;
    return $difference == 0;
}
