// Pays an invoice of the sandbox through a client that openapi-generator has made.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"

	sidecar "sidecar.example/generated/client"
)

func main() {
	configuration := sidecar.NewConfiguration()
	configuration.Servers = sidecar.ServerConfigurations{{URL: os.Args[1]}}
	client := sidecar.NewAPIClient(configuration)
	ctx := context.Background()

	wanted := sidecar.NewPostSandboxInvoiceRequest()
	amount := "1500.5"
	wanted.SetAmount(sidecar.PostCreateInvoiceRequestAmount{String: &amount})
	wanted.SetBehavior(sidecar.SETTLE)
	invoice, _, err := client.SandboxAPI.PostSandboxInvoice(ctx).PostSandboxInvoiceRequest(*wanted).Execute()
	must(err)

	paying := sidecar.NewPostPayInvoiceRequest(invoice.GetInvoice())
	payment, _, err := client.SendAPI.PostPayInvoice(ctx).IdempotencyKey("generated-go").PostPayInvoiceRequest(*paying).Execute()
	must(err)

	_, _, err = client.PaymentsAPI.PutSyncPayments(ctx).Execute()
	must(err)
	list, _, err := client.PaymentsAPI.GetListPayments(ctx).Filter("completed").Order(sidecar.DESC).Direction("outbound").Execute()
	must(err)

	taproot := sidecar.NewPostGetNextUnusedAddressRequest()
	taproot.SetType(sidecar.TAPROOT)
	address, _, err := client.ReceiveAPI.PostGetNextUnusedAddress(ctx).PostGetNextUnusedAddressRequest(*taproot).Execute()
	must(err)

	deliveries, _, err := client.DeliveriesAPI.GetWebhooksDeliveries(ctx).Execute()
	must(err)

	must(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"status":     payment.GetStatus(),
		"amount":     payment.GetAmount(),
		"created_at": payment.GetCreatedAt(),
		"paid":       payment.GetIndex(),
		"newest":     list.GetPayments()[0].GetIndex(),
		"address":    address.GetAddress(),
		"deliveries": len(deliveries.GetDeliveries()),
	}))
}

func must(err error) {
	var answered *sidecar.GenericOpenAPIError
	if errors.As(err, &answered) {
		log.Fatalf("%v: %s", err, answered.Body())
	}
	if err != nil {
		log.Fatal(err)
	}
}
